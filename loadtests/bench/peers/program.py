"""What each peer's program can do, and the stamps by which a pick-up is timed. Standard library alone."""

import os
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

DATABASE_URL = os.environ.get("BENCH_DATABASE_URL", "")
VALKEY_URL = os.environ.get("BENCH_VALKEY_URL", "")
# A setting of the peer that the bench chooses among several, such as its concurrency.
VARIANT = os.environ.get("BENCH_VARIANT", "")
STAMPS = os.environ.get("BENCH_STAMPS", "")
# The worker is idle again before the next job comes, at any phase of its poll.
PAUSE_SECONDS = (0.05, 0.25)
PATIENCE_SECONDS = 30.0

Send = Callable[[float], object]


@dataclass(frozen=True)
class Program:
    """`prepare` makes tables, `fill` enqueues no-ops, `work` runs a worker until it is told to stop.

    `sending` gives a function that enqueues one job, which hands its argument to `stamp` when it runs.
    """

    prepare: Callable[[], None]
    fill: Callable[[int], None]
    work: Callable[[], None]
    sending: Callable[[], AbstractContextManager[Send]]


def stamp(sent: float | None) -> None:
    """A trickled job runs: the milliseconds since it was sent are noted. CLOCK_MONOTONIC is one for all processes."""
    if sent is not None and STAMPS:
        with open(STAMPS, "a") as file:
            file.write(f"{(time.monotonic() - sent) * 1000:.3f}\n")


def trickle(send: Send, count: int, stamps: str = STAMPS) -> None:
    """`count` jobs one at a time, each to an idle worker."""
    for _ in range(count):
        size = _size(stamps)
        send(time.monotonic())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while _size(stamps) == size:
            if time.monotonic() > deadline:
                raise SystemExit("a job was not run; see the worker's log")
            time.sleep(0.002)
        time.sleep(random.uniform(*PAUSE_SECONDS))


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def batches(count: int, size: int) -> list[int]:
    """`count` in parts of at most `size`."""
    return [min(size, count - start) for start in range(0, count, size)]
