"""How much one installation takes: `python -m loadtests.footprint [--json FILE]`.

Starts `make run`'s launch on a free port with data of its own, reads its times, then a worker of concurrency 32 whose
jobs all wait for a slow provider, and reads the worker's memory, CPU and database connections. Loopback only;
everything that it started has ended when it returns.
"""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from loadtests.recording import put_between

ROOT = Path(__file__).resolve().parent.parent
CONCURRENCY = 32
READY = re.compile(r"ready in ([0-9.]+) s")
PUBLISHED = re.compile(r"([0-9.]+) s\s+policies\s+published")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """A child in this project, ended by SIGTERM at the latest when the block ends."""
    child = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()


def read_until(child: "subprocess.Popen[str]", ending: str) -> list[str]:
    """The lines of the child up to the one that has `ending`."""
    lines: list[str] = []
    assert child.stdout is not None
    for line in child.stdout:
        lines.append(line)
        if ending in line:
            return lines
    raise SystemExit("".join(lines) + f"\nThe launch ended before it said {ending!r}.")


def times_of(lines: list[str]) -> dict[str, float]:
    """Seconds until ready, and from ready to the last policy published."""
    text = "".join(lines)
    ready, published = READY.search(text), PUBLISHED.search(text)
    if not ready or not published:
        raise SystemExit(text + "\nThe launch did not say its times.")
    return {"ready_seconds": float(ready[1]), "ingested_36_seconds": float(published[1]) - float(ready[1])}


def launched(data: Path, port: int) -> dict[str, str]:
    """The environment of a launch with data of its own."""
    keep = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    return {**keep, "LARKFIELD_DATA_DIR": str(data), "PORT": str(port), "UPLOADS_PER_MINUTE": "1000"}


def measure_launch(data: Path) -> dict[str, Any]:
    """First run (with initdb), then a second one on the same data; memory of the worker after the corpus."""
    port = free_port()
    with running([sys.executable, "-m", "larkfield.launch"], launched(data, port)) as child:
        first = times_of(read_until(child, "Serving until"))
        memory = worker_memory(child.pid)
    with running([sys.executable, "-m", "larkfield.launch"], launched(data, port)) as child:
        second = READY.search("".join(read_until(child, "Serving until")))
    return {
        **first,
        "second_run_ready_seconds": float(second[1]) if second else None,
        "worker_mib_after_corpus": memory,
    }


def worker_memory(launch: int) -> float:
    """Resident memory of the launch's worker in MiB."""
    workers = [one for one in psutil.Process(launch).children(recursive=True) if "runworker" in one.cmdline()]
    return float(round(max(one.memory_info().rss for one in workers) / 2**20, 1))


@contextmanager
def slow_installation(data: Path) -> Iterator[tuple[dict[str, str], str]]:
    """A launch whose provider answers after a minute: (environment for more processes, database address)."""
    provider, port = free_port(), free_port()
    simulator = [sys.executable, "-m", "simulator", "--port", str(provider), "--latency-scale", "40"]
    environment = {
        **launched(data, port), "PROVIDER_BASE_URL": f"http://127.0.0.1:{provider}/v1", "PROVIDER_API_KEY": "simulated",
        "WORKER_CONCURRENCY": str(CONCURRENCY), "PROVIDER_TIMEOUT_SECONDS": "110", "LEASE_SECONDS": "120",
    }  # fmt: skip
    with running(simulator, environment) as provider_program:
        read_until(provider_program, "listening")
        with running([sys.executable, "-m", "larkfield.launch"], environment) as launch:
            wait_ready(port)
            environment["LAUNCH_PID"] = str(launch.pid)
            yield environment, f"http://127.0.0.1:{port}"


def wait_ready(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise SystemExit("The installation is not ready after 60 s.")


def measure_waiting(data: Path) -> dict[str, Any]:
    """A worker of concurrency 32 with all slots waiting for the provider: connections, memory, CPU."""
    with slow_installation(data) as (environment, api):
        token = (data / "demo-token").read_text().strip()
        for number in range(CONCURRENCY):
            text = f"# Slow {number}\n\nA document of its own, number {number}, that waits for its summary.\n"
            httpx.post(
                f"{api}/v1/documents/slow-{number}/versions", content=text,
                headers={"Authorization": f"Bearer {token}", "Content-Type": "text/markdown"},
            ).raise_for_status()  # fmt: skip
        busy = wait_busy(api, token)
        workers = psutil.Process(int(environment["LAUNCH_PID"])).children(recursive=True)
        worker = next(one for one in workers if "runworker" in one.cmdline())
        worker.cpu_percent()
        found = []
        for _ in range(10):
            time.sleep(1)
            found.append(connections_of(data))
        return {
            "jobs_waiting_for_the_provider": busy,
            "worker_connections_most": max(count for count, _ in found),
            "worker_connections_in_a_transaction_most": max(inside for _, inside in found),
            "worker_mib": round(worker.memory_info().rss / 2**20, 1),
            "worker_cpu_percent_of_a_core": worker.cpu_percent(),
        }


def wait_busy(api: str, token: str) -> int:
    """The number of running jobs, once every slot has one."""
    deadline, running_jobs = time.monotonic() + 30, 0
    while time.monotonic() < deadline and running_jobs < CONCURRENCY:
        answer = httpx.get(f"{api}/v1/queue", headers={"Authorization": f"Bearer {token}"}).json()
        running_jobs = answer["queues"]["documents"]["running"]
        time.sleep(0.3)
    return int(running_jobs)


def connections_of(data: Path) -> tuple[int, int]:
    """(connections of workers, those inside a transaction) by the name that workers give themselves."""
    with psycopg.connect(host=str(data / "postgres"), user="postgres", dbname="larkfield") as own:
        row = own.execute(
            "SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in transaction%') FROM pg_stat_activity "
            "WHERE application_name = 'larkfield worker'"
        ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


ROWS = (
    ("first start to ready (fresh database), s", "ready_seconds", "15"),
    ("36 policies published after that, s", "ingested_36_seconds", "60"),
    ("second start to ready, s", "second_run_ready_seconds", "15"),
    ("worker after the corpus, MiB", "worker_mib_after_corpus", "150"),
    ("jobs of one worker that wait for the provider", "jobs_waiting_for_the_provider", ""),
    ("its connections at the most", "worker_connections_most", "4"),
    ("of these inside a transaction", "worker_connections_in_a_transaction_most", "0"),
    ("its memory, MiB", "worker_mib", "150"),
    ("its CPU, % of a core", "worker_cpu_percent_of_a_core", "3"),
)
EDGES = ("<!-- footprint: begin -->", "<!-- footprint: end -->")


def table(figures: dict[str, Any]) -> str:
    """The figures as a Markdown table; a figure above its limit is called missed."""
    lines = ["| what | measured | at most | |", "|---|---|---|---|"]
    for words, name, most in ROWS:
        verdict = "" if not most else "kept" if figures[name] <= float(most) else "MISSED"
        lines.append(f"| {words} | {figures[name]} | {most} | {verdict} |")
    load = ", ".join(f"{value:.1f}" for value in figures["load_average"])
    return "\n".join([*lines, "", f"{figures['cores']} cores, load average before the run {load}."])


def write_page(page: Path, figures: dict[str, Any]) -> None:
    """The page has this run's table between its two marks."""
    put_between(page, EDGES, table(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--page", type=Path, help="put the table between the two marks of this page")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="larkfield-footprint-") as folder:
        figures = {"load_average": os.getloadavg(), "cores": os.cpu_count(), **measure_launch(Path(folder))}
    with tempfile.TemporaryDirectory(prefix="larkfield-footprint-") as folder:
        figures |= measure_waiting(Path(folder))
    text = json.dumps(figures, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    if arguments.page:
        write_page(arguments.page, figures)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
