"""The supervisor's children: started with a log, watched, stopped in order. Knows not what they are."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from larkfield.embedded.keeper import end_with_parent
from larkfield.launch.errors import ChildDied

LOG_LIMIT_BYTES = 10_000_000
SHOWN_LINES = 15
LOOK_SECONDS = 0.05


@dataclass
class Child:
    """One running child, the leader of its own process group."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path | None
    patience_seconds: float
    # Where this start's lines begin: a log outlives its child.
    log_start_bytes: int = 0

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def signal(self, number: int) -> None:
        """The leader alone gets the signal: it knows how to end the rest of its group."""
        if not self.has_ended():
            self.process.send_signal(number)

    def kill(self) -> None:
        """Nothing of the group is left."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # the group is empty already

    def stop(self) -> None:
        """The child has ended: asked first, killed after its patience."""
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(self.patience_seconds)
        self.kill()
        self.process.wait()

    def last_lines(self) -> str:
        """The end of what it has logged, indented."""
        if self.log is None:
            return ""
        try:
            written = self.log.read_bytes()[self.log_start_bytes :]
        except OSError:
            return ""
        lines = written[-20_000:].decode(errors="replace").splitlines()[-SHOWN_LINES:]
        return "\n".join(f"    {line}" for line in lines)


class Children:
    """All children in the order of their start; they are stopped in the opposite order."""

    def __init__(self, root: Path, logs: Path) -> None:
        self._root = root
        self._logs = logs
        self._running: list[Child] = []
        self._lasting: list[Child] = []

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        shown: bool = False,
        lasting: bool = True,
        patience_seconds: float = 10.0,
    ) -> Child:
        """The child runs. `shown`: it writes to our terminal, not to a log. `lasting`: its end is a fault."""
        log = None if shown else self._log(name)
        stream = None if log is None else log.open("ab")
        start_bytes = stream.tell() if stream else 0
        try:
            process = subprocess.Popen(
                list(command),
                env=dict(environment),
                cwd=self._root,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT if stream else None,
                process_group=0,  # Ctrl-C reaches the supervisor alone, which ends the children in order
                preexec_fn=end_with_parent(signal.SIGTERM),  # the supervisor has one thread: safe between fork and exec
            )
        finally:
            if stream:
                stream.close()
        child = Child(name, process, log, patience_seconds, start_bytes)
        self._running.append(child)
        if lasting:
            self._lasting.append(child)
        return child

    def _log(self, name: str) -> Path:
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{name}.log"
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.write_bytes(b"")
        return log

    def check(self) -> None:
        """Raises ChildDied when a lasting child has ended."""
        for child in self._lasting:
            if child.has_ended():
                raise ChildDied(
                    f"{child.name} ended unexpectedly with exit code {child.process.returncode}; "
                    f"the end of {child.log}:\n{child.last_lines()}"
                )

    def forget(self, child: Child) -> None:
        """A child that ended on its own is no longer stopped."""
        self._running.remove(child)

    def stop_all(self) -> list[str]:
        """Every child has ended, the last started first; returns their names in that order."""
        stopped = []
        self._lasting.clear()
        while self._running:
            child = self._running[-1]
            child.stop()
            self._running.pop()
            stopped.append(child.name)
        return stopped

    def kill_all(self) -> None:
        """No child is left, none was asked."""
        for child in self._running:
            child.kill()


def wait_for_end(child: Child, attend: Callable[[], None]) -> int:
    """The exit code of a child that ends by itself; `attend` is called while waiting and may raise."""
    while not child.has_ended():
        attend()
        time.sleep(LOOK_SECONDS)
    return int(child.process.returncode)
