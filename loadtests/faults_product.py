"""The product on a stage of its own for a fault run: servers, provider, API and workers, each a real process.

Everything listens on loopback or a socket of its own. What goes wrong, and when, is decided elsewhere.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
from redis import Redis

from larkfield import embedded
from larkfield.embedded import EmbeddedUnavailable
from larkfield.launch.children import Child, Children

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 90.0
LOOK_SECONDS = 0.1

# Short leases and waits, so that many recoveries fit into a run; all ratios are those of the defaults.
SETTINGS = {
    "LEASE_SECONDS": "4",
    "HEARTBEAT_SECONDS": "1",
    "PROVIDER_TIMEOUT_SECONDS": "2",
    "PROVIDER_PAUSE_SECONDS": "2",
    "BREAKER_OPEN_SECONDS": "1",
    "BACKOFF_BASE_SECONDS": "0.2",
    "BACKOFF_MAX_SECONDS": "2",
    "DRAIN_SECONDS": "1",
    "WORKER_CONCURRENCY": "6",
    # Several calls a job, so that a crash has steps to fall between.
    "EMBEDDING_BATCH_INPUTS": "3",
    "CHAT_REQUESTS_PER_MINUTE": "3000",
    "EMBEDDING_TOKENS_PER_MINUTE": "3000000",
    "QUESTION_SHARE": "0",
    "PROMISED_WAIT_SECONDS": "0",
    "PYTHONUNBUFFERED": "1",
}
# Summaries take a quarter of a second, 1.8 s at most: below the timeout, long enough that faults find them under way.
LATENCY_SCALE = "0.15"
# What the fault run must not take over from the shell that starts it.
STRANGE = ("AZURE_STORAGE_CONNECTION_STRING", "DATABASE_URL", "VALKEY_URL", "PROVIDER_BASE_URL", "LARKFIELD_ENV")


class StageFailed(Exception):
    """The stage could not be set up or brought back; the text says what did not happen."""


class Stage:
    """All processes of a run. Start children from the main thread only: they end with the thread that made them."""

    def __init__(self, folder: Path, seed: int, workers: int) -> None:
        self.folder, self.seed = folder, seed
        self.children = Children(ROOT, folder / "log")
        self.workers: dict[str, Child | None] = {f"worker-{number}": None for number in range(1, workers + 1)}
        self.api_url = self.provider_url = self.database_url = self.valkey_url = ""
        self.environment = {name: value for name, value in os.environ.items() if name not in STRANGE} | SETTINGS

    # --- start and end ---

    def start(self) -> None:
        """The API answers and all workers run."""
        self.database_url = embedded.database_url(self.folder / "database")
        self.valkey_url = embedded.valkey_url(self.folder / "cache")
        provider_port, api_port = _free_port(), _free_port()
        self.provider_url = f"http://127.0.0.1:{provider_port}"
        self.api_url = f"http://127.0.0.1:{api_port}"
        self.environment |= {
            "DATABASE_URL": self._database_url_of("api"),
            "VALKEY_URL": self.valkey_url,
            "LARKFIELD_DATA_DIR": str(self.folder / "data"),
            "PROVIDER_BASE_URL": f"{self.provider_url}/v1",
            "PROVIDER_API_KEY": "simulated",
        }
        self._start_provider(provider_port)
        self.manage("migrate", "--verbosity", "0")
        self._start_api(api_port)
        for name in self.workers:
            self.start_worker(name)

    def _start_provider(self, port: int) -> None:
        command = [
            sys.executable, "-m", "simulator", "--port", str(port), "--seed", str(self.seed),
            "--latency-scale", LATENCY_SCALE,
            "--chat-requests-per-minute", SETTINGS["CHAT_REQUESTS_PER_MINUTE"],
            "--embedding-tokens-per-minute", SETTINGS["EMBEDDING_TOKENS_PER_MINUTE"],
        ]  # fmt: skip
        self.children.start("simulator", command, self.environment)
        until("the simulator answers", lambda: self._answers(f"{self.provider_url}/_control/ledger"))

    def _start_api(self, port: int) -> None:
        command = [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port),
            "--no-ws", "--workers", "1", "--blocking-threads", "8", "--workers-kill-timeout", "3",
            "larkfield.wsgi:application",
        ]  # fmt: skip
        self.children.start("api", command, self.environment)
        until("the API is ready", lambda: self._answers(f"{self.api_url}/readyz"))

    def _answers(self, url: str) -> bool:
        """Whether it says 200. Raises ChildDied, with the end of its log, when a child has ended meanwhile."""
        self.children.check()
        try:
            return httpx.get(url, trust_env=False, timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        """Nothing of the stage runs."""
        for child in self.workers.values():
            if child is not None:
                child.signal(signal.SIGCONT)
        self.children.stop_all()
        embedded.leave(self.folder / "cache")
        embedded.leave(self.folder / "database")

    def manage(self, *arguments: str, may_fail: bool = False) -> str:
        """What a command of the product prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode and not may_fail:
            raise StageFailed(f"manage.py {arguments[0]} failed: {done.stderr.strip()[-500:]}")
        return done.stdout

    # --- workers ---

    def _database_url_of(self, name: str) -> str:
        return f"{self.database_url}&application_name={name}"

    def start_worker(self, name: str) -> None:
        environment = self.environment | {"DATABASE_URL": self._database_url_of(name)}
        command = [sys.executable, "manage.py", "runworker"]
        self.workers[name] = self.children.start(name, command, environment, lasting=False)

    def take_ended(self) -> list[tuple[str, int]]:
        """(name, exit code) of the workers that have ended since the last look; their places are empty."""
        ended = []
        for name, child in self.workers.items():
            if child is not None and child.has_ended():
                ended.append((name, int(child.process.returncode)))
                self.children.forget(child)
                self.workers[name] = None
        return ended

    # --- the servers ---

    def postmaster(self) -> int:
        """The process number of the database server."""
        return int((self.folder / "database" / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])

    def valkey_process(self) -> int:
        found: Any = Redis.from_url(self.valkey_url).info("server")
        return int(found["process_id"])

    def revive_database(self) -> None:
        """The crashed database is started again and has recovered."""
        folder = self.folder / "database"
        until("the database has fallen", lambda: embedded.fallen(folder))
        embedded.leave(folder)
        # A backend that outlives the crash for a moment still holds the memory: the start is tried again.
        until("the database runs again", lambda: _joined(lambda: embedded.database_url(folder)))

    def revive_valkey(self) -> None:
        folder = self.folder / "cache"
        until("Valkey has fallen", lambda: embedded.fallen(folder))
        embedded.leave(folder)
        until("Valkey runs again", lambda: _joined(lambda: embedded.valkey_url(folder)))

    def rows(self, query: str, *values: Any) -> list[Any]:
        """What the database says, read by a session of its own."""
        with psycopg.connect(self._database_url_of("observer"), autocommit=True, connect_timeout=5) as observer:
            return observer.execute(query.encode(), values).fetchall()

    # --- the provider ---

    def control(self, route: str, body: object) -> None:
        answer = httpx.post(f"{self.provider_url}/_control/{route}", json=body, trust_env=False, timeout=10)
        answer.raise_for_status()

    def provider_ledger(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.provider_url}/_control/ledger", trust_env=False, timeout=60).json()
        return found


def until(what: str, found: Callable[[], T], within: float = READY_SECONDS) -> T:
    """The first true answer; StageFailed that names `what` when none comes in time."""
    deadline = time.monotonic() + within
    while not (answer := found()):
        if time.monotonic() > deadline:
            raise StageFailed(f"not within {within:g} s: {what}")
        time.sleep(LOOK_SECONDS)
    return answer


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _joined(join: Callable[[], str]) -> bool:
    try:
        join()
    except EmbeddedUnavailable:
        return False
    return True
