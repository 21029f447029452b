"""SIGTERM and SIGINT: the first asks for a drain, the second for an end at once."""

import signal
import threading
from types import FrameType


class Stopping:
    """What the signals have asked for; waiting for it is waiting for a signal."""

    def __init__(self, wake: threading.Event) -> None:
        self.is_asked = False
        self.is_urgent = False
        self._wake = wake

    def install(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def ask(self) -> None:
        """As a signal does."""
        self.is_urgent = self.is_asked
        self.is_asked = True
        self._wake.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask()
