"""`python -m loadtests.fresh` (`make fresh`): the project from nothing: a copy, a new environment, everything by hand.

Each step's commands and the end of its output are kept in results/fresh/summary.json, without a path of this machine.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx

from loadtests import machine, sealing
from loadtests.faults_product import ROOT, until
from loadtests.footprint import free_port
from loadtests.recording import RESULTS, say

LEFT_BEHIND = (".venv", ".env", "var", ".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
               ".hypothesis", ".import_linter_cache")  # fmt: skip
KEPT_LINES = 12
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL")
BIN = ".venv/bin/"
QUICK_TESTS = ["-q", "loadtests", "simulator", "ingestion/tests/test_chunking.py"]
DUPLICATES = ["-q", "ingestion/tests/processes/test_path_2_crash_in_the_middle.py"]
SAID = re.compile(r"https?://127\.0\.0\.1:\d+")


class StepFailed(Exception):
    """A step did not end as it should; the text is the end of its output."""


@dataclass
class Fresh:
    """The copy, its processes and what was recorded of each step."""

    folder: Path
    steps: list[dict[str, Any]] = field(default_factory=list)
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment["PYTHONUNBUFFERED"] = "1"

    def step(self, what: str, *commands: Sequence[str], shown: int = KEPT_LINES) -> str:
        """The commands ran one after the other; the last one's output. StepFailed when one did not succeed."""
        began, output, is_done = time.monotonic(), "", True
        say(f"{what}")
        for command in commands:
            done = subprocess.run(
                list(command), cwd=self.folder, env=self.environment, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            output = done.stdout
            if is_failed := done.returncode != 0:
                is_done = not is_failed
                break
        self.note(what, [" ".join(command) for command in commands], output, began, shown=shown, is_done=is_done)
        if not is_done:
            raise StepFailed(f"{what}: {output[-2000:]}")
        return output

    def note(
        self, what: str, commands: Sequence[str], output: str, began: float, *, shown: int = KEPT_LINES,
        is_done: bool = True,
    ) -> None:  # fmt: skip
        """The step is recorded with the end of its output."""
        lines = [self.without_paths(line.rstrip()) for line in output.splitlines() if line.strip()][-shown:]
        self.steps.append({
            "what": what, "commands": [self.without_paths(command) for command in commands],
            "output": "\n".join(lines), "seconds": round(time.monotonic() - began, 1), "is_done": is_done,
        })  # fmt: skip
        for line in lines:
            say(f"    {line}")

    def without_paths(self, text: str) -> str:
        """Without a folder of this machine."""
        for path, name in ((self.folder, "project"), (ROOT, "original"), (Path.home(), "home")):
            text = text.replace(str(path), name)
        return re.sub(r"/(?:tmp|root|home|work)/[^\s'\",]*", "(folder)", text)

    def start(self, name: str, *command: str) -> None:
        """A process of the copy runs, with its log beside it."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running.append(
                subprocess.Popen(
                    list(command),
                    cwd=self.folder,
                    env=self.environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        """Everything that was started has ended, and the copy is gone."""
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(fresh: Fresh, *, python: str, is_quick: bool) -> None:
    """All steps of the fresh-environment run, in the order of the assignment."""
    began = time.monotonic()
    shutil.copytree(ROOT, fresh.folder, ignore=shutil.ignore_patterns(*LEFT_BEHIND), dirs_exist_ok=True)
    found = sorted(path.name for path in fresh.folder.iterdir())
    fresh.note("Copy without .venv, .env, var and run outputs", ["ls -A"], " ".join(found), began)
    fresh.step("New virtual environment", [python, "-m", "venv", ".venv"], [BIN + "python", "--version"])
    fresh.step(
        "Install",
        [BIN + "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
        [BIN + "python", "-m", "pip", "check"],
    )  # fmt: skip
    _settings(fresh)
    fresh.step("Migrate (the database is new: it is made by this command)", [BIN + "python", "manage.py", "migrate"])
    _serve(fresh)
    _load_and_upload(fresh)
    fresh.step("The duplicate check: failure path 2", [BIN + "python", "-m", "pytest", *DUPLICATES])
    tests = [BIN + "python", "-m", "pytest", *(QUICK_TESTS if is_quick else ["-q"])]
    fresh.step("Tests, shortened" if is_quick else "Every test", tests, shown=6)


def _settings(fresh: Fresh) -> None:
    began, ports = time.monotonic(), (free_port(), free_port())
    text = (fresh.folder / ".env.example").read_text()
    text = text.replace("\nPORT=\n", f"\nPORT={ports[0]}\n")
    text = text.replace("\nPROVIDER_BASE_URL=\n", f"\nPROVIDER_BASE_URL=http://127.0.0.1:{ports[1]}/v1\n")
    (fresh.folder / ".env").write_text(text)
    fresh.environment |= {"API": f"http://127.0.0.1:{ports[0]}", "PROVIDER": str(ports[1])}
    changed = [line for line in text.splitlines() if line.startswith(("PORT=", "PROVIDER_BASE_URL="))]
    fresh.note(
        "Settings from .env.example; ports that are free here", ["cp .env.example .env"], "\n".join(changed), began
    )


def _serve(fresh: Fresh) -> None:
    """Provider, worker and API run, as they would in a terminal each."""
    began, api = time.monotonic(), fresh.environment["API"]
    commands = {
        "simulator": [BIN + "python", "-m", "simulator", "--port", fresh.environment["PROVIDER"]],
        "api": [BIN + "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", api.rpartition(":")[2],
                "larkfield.wsgi:application"],
        "worker": [BIN + "python", "manage.py", "runworker"],
    }  # fmt: skip
    for name, command in commands.items():
        fresh.start(name, *command)
    until("the API is ready", lambda: _is_ready(api))
    until("the worker has started", lambda: "worker started" in (fresh.folder / "worker.log").read_text())
    ready = httpx.get(f"{api}/readyz", trust_env=False).text
    fresh.note("Start the provider, the API and one worker", [" ".join(one) for one in commands.values()], ready, began)


def _is_ready(api: str) -> bool:
    try:
        return httpx.get(f"{api}/readyz", trust_env=False, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _load_and_upload(fresh: Fresh) -> None:
    """The policies are published; one document is uploaded and its job followed to `succeeded`."""
    api = fresh.environment["API"]
    token = subprocess.run(
        [BIN + "python", "manage.py", "createcaller", "omar", "--can", "upload,ask,operate"],
        cwd=fresh.folder, env=fresh.environment, text=True, check=True, capture_output=True,
    ).stdout.strip()  # fmt: skip
    fresh.environment["LARKFIELD_TOKEN"] = token
    fresh.step("Load the policies", [BIN + "python", "manage.py", "loadcorpus", "--api", api], shown=2)
    began = time.monotonic()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/markdown", "Idempotency-Key": "parking-1"}
    text = "# Parking\n\nCustomers park free of charge for two hours at every store.\n"
    url = f"{api}/v1/documents/parking/versions"
    answers = [httpx.post(url, content=text, headers=headers, trust_env=False, timeout=30) for _ in range(2)]
    location = answers[0].headers["Location"]
    states: list[str] = []

    def has_succeeded() -> bool:
        found = httpx.get(f"{api}{location}", headers={"Authorization": f"Bearer {token}"}, trust_env=False).json()
        if found["state"] not in states:
            states.append(found["state"])
        return bool(found["state"] == "succeeded")

    until("the job succeeds", has_succeeded)
    replayed = answers[1].headers.get("Idempotent-Replayed")
    said = [
        f"first: {answers[0].status_code}, Location: {location}",
        f"again with the same key: {answers[1].status_code}, Idempotent-Replayed: {replayed}, same job: "
        f"{answers[0].json()['job']['id'] == answers[1].json()['job']['id']}",
        f"job: {' → '.join(states)}",
    ]
    curl = (
        f"curl -X POST {url} -H 'Idempotency-Key: parking-1' -H 'Content-Type: text/markdown' --data-binary @parking.md"
    )
    fresh.note(
        "Upload one document, twice with one key, and follow its job",
        [curl, f"curl {api}{location}"],
        "\n".join(said),
        began,
    )


def record(fresh: Fresh, place: Path, began_at: str, seconds: float, *, is_quick: bool) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    found = {
        "began_at": began_at, "seconds": round(seconds, 1), "short": is_quick, "steps": fresh.steps,
        "code": machine.fingerprint(), "machine": machine.describe(),
    }  # fmt: skip
    (place / "summary.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    sealing.seal(place)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every step succeeded; 1: one did not, and the record says which."""
    parser = argparse.ArgumentParser(
        prog="loadtests.fresh",
        description="Copies the project to a new folder and does everything by hand, up to a duplicate check.",
        epilog="Example: python -m loadtests.fresh --quick",
    )
    parser.add_argument("--quick", action="store_true", help="a few tests in place of every test")
    parser.add_argument("--python", default="python3", help="the interpreter of the new environment (default: python3)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began_at, began = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    fresh = Fresh(Path(mkdtemp(prefix="larkfield-fresh-")))
    try:
        run(fresh, python=given.python, is_quick=given.quick)
    except StepFailed as error:
        sys.stderr.write(f"{error}\n")
    finally:
        fresh.stop()
        record(fresh, given.out / "fresh", began_at, time.monotonic() - began, is_quick=given.quick)
    return (
        0
        if all(step["is_done"] for step in fresh.steps) and fresh.steps[-1]["what"].startswith(("Tests", "Every"))
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
