"""A peer as the bench drives it: its program in the peers' environment, its own database or Valkey, looked at from
outside. Knows no peer by name; those are in `contestant`."""

import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from redis import Redis

from larkfield.embedded.binaries import valkey_server
from larkfield.launch.children import Child
from loadtests.bench.contestant import Peer, Waits
from loadtests.faults_product import until
from loadtests.installation import KEPT, Installation
from loadtests.machine import ROOT


class PeerRun:
    """One peer on the stage's PostgreSQL, or on a Valkey of its own."""

    def __init__(self, stage: Installation, peer: Peer, python: Path) -> None:
        self._stage, self._peer, self._python = stage, peer, python
        self.name, self.title, self.guess, self.look_seconds = peer.name, peer.title, peer.guess, peer.look_seconds
        self.variants, self.variant = peer.variants, ""
        self._workers: list[Child] = []
        self._observer: psycopg.Connection[Any] | None = None
        self._stamps = stage.folder / f"stamps-{peer.name}"
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment |= {"BENCH_STAMPS": str(self._stamps), "PYTHONUNBUFFERED": "1"}
        if peer.log is None:
            self._address = self._database()
            self.environment["BENCH_DATABASE_URL"] = self._address
        else:
            self._address = self._valkey(peer.log)
            self.environment["BENCH_VALKEY_URL"] = self._address
        self._run("prepare")

    def choose(self, variant: str) -> None:
        """From now on its workers run with this variant."""
        self.variant = variant
        self.environment["BENCH_VARIANT"] = variant

    def _database(self) -> str:
        name = f"bench_{self.name}"
        with psycopg.connect(self._stage.database_url, autocommit=True) as own:
            own.execute(f'CREATE DATABASE "{name}"'.encode())
        return self._stage.database_url.replace("/larkfield?", f"/{name}?")

    def _valkey(self, log: str) -> str:
        """A Valkey of its own: PostgreSQL's promise (`always`), or none."""
        folder = self._stage.folder / f"valkey-{self.name}"
        folder.mkdir()
        socket = folder / "v.sock"
        settings = {
            "port": "0", "unixsocket": str(socket), "dir": str(folder), "save": "", "daemonize": "no",
            **({"appendonly": "yes", "appendfsync": log} if log != "no" else {"appendonly": "no"}),
        }  # fmt: skip
        command = [str(valkey_server()), *(word for name, value in settings.items() for word in (f"--{name}", value))]
        self._stage.children.start(f"valkey-{self.name}", command, self.environment, lasting=False)
        until(f"the Valkey of {self.name} listens", socket.exists)
        return f"unix://{quote(str(socket))}"

    def _command(self, verb: str, count: int = 0) -> list[str]:
        return [str(self._python), "-m", "loadtests.bench.peers", f"{self._module}_peer", verb, str(count)]

    @property
    def _module(self) -> str:
        return self.name.removesuffix("_durable")

    def _run(self, verb: str, count: int = 0) -> None:
        done = subprocess.run(
            self._command(verb, count),
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{self.name} {verb}: {done.stderr.strip()[-600:]}")

    def fill(self, count: int) -> None:
        self._run("fill", count)

    def start(self) -> None:
        for number in range(self._peer.processes):
            name = f"{self.name}-worker-{number}"
            self._workers.append(
                self._stage.children.start(name, self._command("work"), self.environment, lasting=False)
            )

    def stop(self) -> None:
        while self._workers:
            self._stage.stop_process(self._workers.pop())

    def left(self) -> int:
        if self._peer.left is not None:
            return int(self._rows(self._peer.left)[0][0])
        queue: Any = Redis.from_url(self._address)
        if self._module == "dramatiq":
            return int(queue.hlen("dramatiq:default.msgs"))
        return int(queue.llen("celery")) + int(queue.hlen("unacked"))

    def moments(self, count: int) -> list[float]:
        return [float(row[0]) for row in self._rows(self._peer.finished, count)] if self._peer.finished else []

    def fallen(self) -> str:
        return "\n".join(worker.last_lines() for worker in self._workers if worker.has_ended())

    def _rows(self, query: str, *values: object) -> list[Any]:
        if self._observer is None:
            self._observer = psycopg.connect(self._address, autocommit=True)
        return self._observer.execute(query.encode(), values or None).fetchall()

    def trickle(self, count: int) -> Waits:
        self._stamps.unlink(missing_ok=True)
        self._run("trickle", count)
        ran = [float(line) for line in self._stamps.read_text().splitlines()]
        claimed = self._rows(self._peer.claimed, count) if self._peer.claimed else []
        return Waits([float(row[0]) for row in claimed], ran)
