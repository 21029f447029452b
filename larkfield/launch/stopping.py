"""Signals. The first one asks, the second one ends at once. Handlers only take notes: steps look at them."""

import os
import signal
import time
from collections.abc import Callable
from types import FrameType

from larkfield.launch.errors import StopRequested

LOOK_SECONDS = 0.05
TOGETHER_SECONDS = 0.5  # a signal to the whole group arrives twice: make passes on what we got as well
HURRIED_EXIT = 130  # what a shell reports for a program that Ctrl-C ended


class Stopping:
    """Notes whether a stop was asked for; `hurry` is called at the second signal, just before the end."""

    def __init__(self, hurry: Callable[[], None]) -> None:
        self.requested = False
        self._asked_at = 0.0
        self._hurry = hurry

    def listen(self) -> None:
        """SIGINT, SIGTERM and the end of the terminal arrive here from now on."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._receive)

    def _receive(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested and time.monotonic() - self._asked_at > TOGETHER_SECONDS:
            self._hurry()
            os._exit(HURRIED_EXIT)
        if not self.requested:
            self._asked_at = time.monotonic()
        self.requested = True

    def check(self) -> None:
        """Raises StopRequested when a stop was asked for."""
        if self.requested:
            raise StopRequested

    def pause(self, seconds: float) -> None:
        """`seconds` have passed, or StopRequested is raised soon after the signal."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, LOOK_SECONDS))
        self.check()
