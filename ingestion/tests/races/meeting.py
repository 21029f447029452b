"""Lets threads meet at a barrier and collects what each brought back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def at_once(count: int, work: Callable[[int], T]) -> list[T]:
    """Runs `work(number)` in `count` threads that start together; the results in their order."""
    barrier = Barrier(count)
    # The pool is small: the caller must not hold a connection that a thread needs.
    connection.close()

    def run(number: int) -> T:
        barrier.wait(timeout=20)
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))
