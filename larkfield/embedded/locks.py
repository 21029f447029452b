"""File locks that the kernel gives back when their holder dies, however it dies.

Reference counting by written process numbers goes wrong after a SIGKILL or when a number is used again;
a lock cannot. `flock` is used rather than `fcntl.lockf` because it belongs to the open file and so passes
to children together with the descriptor.
"""

import fcntl
import os
import time
from pathlib import Path

from larkfield.embedded.errors import EmbeddedUnavailable

PAUSE_SECONDS = 0.02


def open_lock(path: Path) -> int:
    """A descriptor of the lock file, which exists; closed again by `os.close`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EmbeddedUnavailable(f"{path} cannot be opened: {error.strerror}") from error


def try_lock(descriptor: int, *, shared: bool) -> bool:
    """Whether the lock is held now; never waits."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EmbeddedUnavailable(f"this file system keeps no locks: {error.strerror}") from error
    return True


def take(path: Path) -> int | None:
    """The exclusive lock on `path` as a descriptor, or None while another process holds it."""
    descriptor = open_lock(path)
    if try_lock(descriptor, shared=False):
        return descriptor
    os.close(descriptor)
    return None


def is_held(path: Path) -> bool:
    """Whether another open file holds the exclusive lock on `path`."""
    descriptor = take(path)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def share(path: Path, deadline: float) -> int:
    """The shared lock on `path` as a descriptor; waits for a stopping server until `deadline` (monotonic)."""
    descriptor = open_lock(path)
    while not try_lock(descriptor, shared=True):
        if time.monotonic() > deadline:
            os.close(descriptor)
            raise EmbeddedUnavailable(f"{path.stem} below {path.parent.parent} has been stopping for too long")
        time.sleep(PAUSE_SECONDS)
    return descriptor
