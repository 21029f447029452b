"""Processes that join an embedded server in tests, and waiting for a condition. No assertions here."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from pathlib import Path
from larkfield import embedded
print(getattr(embedded, sys.argv[1])(Path(sys.argv[2])), flush=True)
sys.stdin.read()
"""


class Member:
    """A process that joined the server and stays until it is told to go."""

    def __init__(self, function: str, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, function, str(directory)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        """The address it was given; waits until it has joined."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        """It has ended as a process normally does."""
        self.process.communicate()

    def kill(self) -> None:
        """It has ended without any chance to tidy up."""
        self.process.kill()
        self.process.communicate()


def wait_until(condition: Callable[[], bool], deadline_seconds: float = 20.0) -> bool:
    """Whether the condition came true before the deadline."""
    until = time.monotonic() + deadline_seconds
    while not (met := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return met


def is_running(process: int) -> bool:
    """Whether the process lives (a zombie does not)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
