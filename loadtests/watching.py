"""Looks at a queue while others work on it: its depth many times a second, all its numbers once a second."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import httpx
import psycopg

DEPTH = "SELECT jobs, units, bytes FROM ingestion_queuestate WHERE queue = %s"
LOOK_SECONDS = 0.05
# Of GET /v1/queue; `bound` and the like don't change.
KEPT = (
    "queued",
    "ready",
    "running",
    "dead_letters",
    "oldest_age_seconds",
    "pace_per_minute",
    "drain_seconds",
    "accepting",
)


class Watch:
    """Between enter and exit: `most` is the largest depth seen, `depths` each change of it, `rows` one row a second."""

    def __init__(
        self, address: str, queue: str, read: Callable[[], Mapping[str, Any]] | None = None, every_seconds: float = 1.0
    ) -> None:
        self._address, self._queue, self._read, self._every = address, queue, read, every_seconds
        self._ended = Event()
        self._threads = [
            Thread(target=self._look_at_depth, daemon=True),
            Thread(target=self._look_each_second, daemon=True),
        ]
        self.began = time.monotonic()
        self.depth = self.most = self.looks = 0
        self.depths: list[tuple[float, int]] = []
        self.rows: list[dict[str, Any]] = []

    def __enter__(self) -> "Watch":
        self.began = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(timeout=10)

    def _look_at_depth(self) -> None:
        while not self._ended.is_set():
            try:
                with psycopg.connect(self._address, autocommit=True, connect_timeout=5) as observer:
                    while not self._ended.wait(LOOK_SECONDS):
                        self._note(observer.execute(DEPTH, [self._queue]).fetchone())
            except psycopg.Error:
                # The database is being restarted: there is nothing to see for a moment.
                self._ended.wait(0.2)

    def _note(self, row: Any) -> None:
        self.looks += 1
        if not self.depths or row[0] != self.depth:
            self.depths.append((round(time.monotonic() - self.began, 3), row[0]))
        self.depth = row[0]
        self.most = max(self.most, self.depth)

    def _look_each_second(self) -> None:
        number = 0
        while not self._ended.wait(max(0.0, self.began + number * self._every - time.monotonic())):
            number += 1
            row: dict[str, Any] = {
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "second": round(time.monotonic() - self.began, 2),
                "depth": self.depth,
            }
            try:
                row |= self._read() if self._read else {}
            except (httpx.HTTPError, KeyError, ValueError) as error:
                row["unread"] = type(error).__name__
            self.rows.append(row)

    def reached_at(self, depth: int, after: float = 0.0) -> float | None:
        """Seconds from the start to the first depth of at most `depth` that was seen after `after`."""
        seen = [(moment, value) for moment, value in self.depths if value <= depth]
        return next((moment for moment, _ in seen if moment >= after), None)


def queue_reader(api: httpx.Client, headers: Mapping[str, str], queue: str) -> Callable[[], dict[str, Any]]:
    """Reads the queue's numbers as any caller sees them."""

    def read() -> dict[str, Any]:
        found = api.get("/v1/queue", headers=headers).json()["queues"][queue]
        return {name: found[name] for name in KEPT}

    return read
