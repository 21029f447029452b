"""Real processes: workers and APIs that a test starts, signals and waits for. Each writes a log of its own."""

import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from ingestion.tests.processes import surroundings
from ingestion.tests.processes.watching import DEADLINE_SECONDS, eventually
from ingestion.tests.simulated import Simulator


class Member:
    """One running process of the product."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name, self.log = name, log
        self.has_children = "granian" in command
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                command, cwd=surroundings.PROJECT, env=dict(environment), stdin=subprocess.DEVNULL,
                stdout=stream, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def text(self) -> str:
        """All that it has written."""
        return self.log.read_text(errors="replace")

    def says(self, words: str, within: float = DEADLINE_SECONDS) -> "Member":
        """Returns itself once `words` stand in its log."""
        eventually(f"{self.name} says {words!r}; it says {self.text()[-2000:]}", lambda: words in self.text(), within)
        return self

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """It is gone, without a chance to say so."""
        self.process.kill()
        self.process.wait(timeout=DEADLINE_SECONDS)

    def exit_code(self, within: float = DEADLINE_SECONDS) -> int:
        """The code with which it ended by itself."""
        try:
            return self.process.wait(timeout=within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {within:g} s; it says {self.text()[-2000:]}") from None

    def clear_away(self) -> None:
        """Whatever its state, it is gone; a stopped process takes SIGKILL as well."""
        if self.process.poll() is None:
            self.kill()


class Crew:
    """The processes of one test; all are gone when it ends."""

    def __init__(self, simulator: Simulator, folder: Path) -> None:
        self.simulator, self._folder = simulator, folder
        self._members: list[Member] = []

    def command(self, name: str, *arguments: str, **changes: str) -> Member:
        """`manage.py` with the arguments, under the name in the database's list of sessions."""
        return self._add(name, [*surroundings.MANAGE, *arguments], changes)

    def worker(self, name: str, *arguments: str, **changes: str) -> Member:
        """A worker that has started; its `changes` are environment variables."""
        return self.command(name, "runworker", *arguments, **changes).says("worker started")

    def api(self, name: str = "api", *, processes: int = 1, threads: int = 8, **changes: str) -> str:
        """The address of an API that is ready, served by `processes` processes."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--no-ws",
            "--port", str(port), "--workers", str(processes), "--blocking-threads", str(threads),
            "--workers-kill-timeout", "2", "larkfield.wsgi:application",
        ]  # fmt: skip
        member = self._add(name, command, changes)
        address = f"http://127.0.0.1:{port}"
        eventually(f"{name} is ready: {member.text()[-2000:]}", lambda: _is_ready(address))
        return address

    def _add(self, name: str, command: list[str], changes: Mapping[str, str]) -> Member:
        log = self._folder / f"{len(self._members)}-{name}.log"
        member = Member(name, command, surroundings.environment(name, self.simulator, changes), log)
        self._members.append(member)
        return member

    def clear_away(self) -> None:
        """APIs are asked, so that their children go with them; everybody else is killed."""
        for member in self._members:
            if member.has_children and member.process.poll() is None:
                member.send(signal.SIGTERM)
                member.exit_code()
            member.clear_away()


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", trust_env=False, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
