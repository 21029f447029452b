"""Start or join one embedded server, and leave it. Knows locks and keepers, not what the server is.

Two lock files a server. `NAME.members`: every process that uses the server holds it shared. `NAME.keeper`:
the keeper process holds it exclusively while the server runs. Who finds the second one free starts a keeper
and hands the lock down to it; the keeper stops the server once it gets the first one exclusively. New
members wait at that lock until the stop is complete, so starting and stopping never overlap.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from larkfield.embedded import keeper, locks
from larkfield.embedded.errors import EmbeddedUnavailable, last_words

START_SECONDS = 60.0  # initdb on a slow disk takes ten; after a crash recovery may take longer than a start
LOG_LIMIT_BYTES = 10_000_000


class Server(Protocol):
    """What a server must tell."""

    @property
    def name(self) -> str: ...
    @property
    def directory(self) -> Path: ...
    @property
    def stop_signal(self) -> int: ...

    def prepare(self, lock: int) -> None: ...  # children that must finish alone inherit `lock`
    def command(self) -> list[str]: ...
    def account(self) -> tuple[int, int] | None: ...
    def answers(self) -> bool: ...
    def url(self) -> str: ...


@dataclass
class Membership:
    """This process's share in one running server."""

    server: Server
    members: int
    url: str


_joined: dict[tuple[str, Path], Membership] = {}
_keepers: list[subprocess.Popen[bytes]] = []  # kept so that a keeper that ends is reaped


def lock_path(server: Server, role: str) -> Path:
    return server.directory / "run" / f"{server.name}.{role}"


def log_path(server: Server) -> Path:
    return server.directory / "log" / f"{server.name}.log"


def join(server: Server) -> str:
    """The server runs and this process is a member; returns its URL."""
    key = (server.name, server.directory)
    if key in _joined:
        return _joined[key].url
    deadline = time.monotonic() + START_SECONDS
    members = locks.share(lock_path(server, "members"), deadline)
    try:
        _wait_until_it_answers(server, deadline)
    except BaseException:
        os.close(members)
        raise
    _joined[key] = Membership(server, members, server.url())
    return _joined[key].url


def _wait_until_it_answers(server: Server, deadline: float) -> None:
    started_at: int | None = None  # the log's length when this process started a keeper
    while True:
        lock = locks.take(lock_path(server, "keeper"))
        if lock is not None:
            try:
                if started_at is not None:
                    raise EmbeddedUnavailable(_why(server, started_at))
                started_at = _start_keeper(server, lock)
            finally:
                os.close(lock)
        elif server.answers():
            return
        if time.monotonic() > deadline:
            raise EmbeddedUnavailable(
                f"embedded {server.name} does not answer after {START_SECONDS:.0f} s; see {log_path(server)}"
            )
        time.sleep(locks.PAUSE_SECONDS)


def _why(server: Server, since: int) -> str:
    reason = last_words(log_path(server), since) or "it ended without a word"
    return f"embedded {server.name} did not start: {reason} (log: {log_path(server)})"


def _start_keeper(server: Server, lock: int) -> int:
    """A keeper runs and owns `lock`; returns the length of the log before it."""
    try:
        server.prepare(lock)
        log = log_path(server)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.write_bytes(b"")
        with log.open("ab") as stream:
            length = stream.seek(0, os.SEEK_END)
            _keepers.append(_spawn(server, lock, stream.fileno()))
    except OSError as error:
        raise EmbeddedUnavailable(f"embedded {server.name} did not start: {error}") from error
    return length


def _spawn(server: Server, lock: int, log: int) -> subprocess.Popen[bytes]:
    specification = {
        "command": server.command(),
        "members": str(lock_path(server, "members")),
        "stop_signal": server.stop_signal,
        "patience_seconds": 30.0,
        "user": server.account(),
    }
    return subprocess.Popen(
        [sys.executable, "-I", "-S", keeper.__file__, json.dumps(specification)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",  # no folder stays busy because of it
        start_new_session=True,  # the terminal's Ctrl-C is for the members
        pass_fds=(lock,),
    )


def fallen(directory: Path) -> list[str]:
    """Names of the servers below `directory` that this process has joined and that no longer run."""
    return [
        name
        for (name, where), membership in _joined.items()
        if where == directory and not locks.is_held(lock_path(membership.server, "keeper"))
    ]


def leave(directory: Path, timeout_seconds: float) -> bool:
    """Every membership below `directory` is given back and what nobody else uses has stopped, or False."""
    deadline = time.monotonic() + timeout_seconds
    leaving = [_joined.pop(key) for key in list(_joined) if key[1] == directory]
    for membership in leaving:
        os.close(membership.members)
    return not [one for one in leaving if not _stopped_or_in_use(one.server, deadline)]


def _stopped_or_in_use(server: Server, deadline: float) -> bool:
    while locks.is_held(lock_path(server, "keeper")):
        if _others_use(server):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(locks.PAUSE_SECONDS)
    return True


def _others_use(server: Server) -> bool:
    """Whether a member is left: a shared lock can be had, an exclusive one cannot."""
    descriptor = locks.open_lock(lock_path(server, "members"))
    try:
        return not locks.try_lock(descriptor, shared=False) and locks.try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)
