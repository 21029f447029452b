"""The process that owns one embedded server: it stops the server when the last member has gone.

Run as a file with the standard library alone, so that it starts in some twenty milliseconds:
`python keeper.py SPECIFICATION`, JSON of {"command": [...], "members": lock file, "stop_signal": number,
"patience_seconds": seconds, "user": [uid, gid] or null}. It inherits the exclusive lock that says "a keeper
runs" and holds it to its end. Nothing here may import the product.
"""

import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

LOOK_SECONDS = 0.1  # how long a server outlives its last member; a look costs one system call
PR_SET_PDEATHSIG = 1


def end_with_parent(number: int) -> Callable[[], None]:
    """A function for the child between fork and exec: it gets signal `number` when this process dies."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def bind() -> None:
        prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the call took effect
            os._exit(1)

    return bind


def start(specification: dict[str, Any]) -> subprocess.Popen[bytes]:
    """The server as a child, under another account where one is named."""
    user, group = specification["user"] or (None, None)
    return subprocess.Popen(
        specification["command"],
        stdin=subprocess.DEVNULL,
        user=user,
        group=group,
        extra_groups=[] if user is not None else None,
        preexec_fn=end_with_parent(specification["stop_signal"]),
    )


def nobody_is_left(descriptor: int) -> bool:
    """Whether every member's shared lock is gone; then this process holds the exclusive one."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def stop(server: subprocess.Popen[bytes], number: int, patience_seconds: float) -> None:
    """The server has ended: asked first, killed after `patience_seconds`."""
    server.send_signal(number)
    try:
        server.wait(patience_seconds)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def keep(specification: dict[str, Any]) -> int:
    """The server has run until nobody was left, it ended by itself (1), or this process was told to end."""
    told: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        told.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, remember)
    members = os.open(specification["members"], os.O_RDWR | os.O_CLOEXEC)
    server = start(specification)
    while not told and not nobody_is_left(members):
        if server.poll() is not None:
            return 1
        time.sleep(LOOK_SECONDS)
    stop(server, specification["stop_signal"], specification["patience_seconds"])
    return 0


if __name__ == "__main__":
    sys.exit(keep(json.loads(sys.argv[1])))
