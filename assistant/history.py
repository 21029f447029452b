"""The last hour by minutes, and the cost of the day, counted from the rows that are there. No HTTP, nothing is written.

Nothing samples: what was accepted, ended and called tells its own time, so that the history survives every restart and
is the same in each process. A minute that is over is counted once in a process; only the last ones are counted again.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import connection

from ingestion import connections, jobs, standing
from ingestion.provider import pacing
from ingestion.provider.pacing import LaneRoom
from ingestion.queue import controlling

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
# What may still change: a transaction that is open over the end of a minute, a call whose outcome is not booked.
OPEN = timedelta(minutes=3)
PURPOSES = ("question", "bulk")


@dataclass(frozen=True)
class JobMinute:
    """What a queue saw in one minute; seconds are from accepted to finished, None where nothing finished."""

    accepted: int = 0
    finished: int = 0
    given_up: int = 0
    dropped: int = 0
    median_seconds: float | None = None
    longest_seconds: float | None = None

    @property
    def growth(self) -> int:
        return self.accepted - self.finished - self.given_up - self.dropped


@dataclass
class CallMinute:
    """What the provider was asked for in one minute: use by (lane, purpose), refusals for the rate by lane."""

    used: dict[tuple[str, str], int] = field(default_factory=dict)
    limited: dict[str, int] = field(default_factory=dict)
    cost_usd: Decimal = Decimal(0)


Counted = TypeVar("Counted")


class Minutes(Generic[Counted]):
    """Minutes by their start, read by `count(since)`; those that are over are kept."""

    def __init__(self, count: Callable[[datetime], dict[datetime, Counted]]) -> None:
        self._count = count
        self._lock = Lock()
        self._known: dict[datetime, Counted] = {}
        # All minutes from the first up to the second were counted.
        self._from: datetime | None = None
        self._until: datetime | None = None

    def since(self, first: datetime, now: datetime) -> dict[datetime, Counted]:
        """Every minute from `first` on that had something in it."""
        with self._lock:
            is_known = self._from is not None and self._from <= first and self._until is not None
            begin = max(first, self._until) if is_known and self._until else first
        found = self._count(begin)
        closed = max(begin, whole_minute(now) - OPEN)
        with self._lock:
            kept = self._known if is_known else {}
            everything = {**{at: kept[at] for at in kept if first <= at < begin}, **found}
            self._known = {at: value for at, value in everything.items() if at < closed}
            self._from, self._until = first, closed
        return everything

    def forget(self) -> None:
        with self._lock:
            self._known, self._from, self._until = {}, None, None


def whole_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _count_jobs(queue: str) -> Callable[[datetime], dict[datetime, JobMinute]]:
    def count(since: datetime) -> dict[datetime, JobMinute]:
        rows = _rows("job_minutes", {"queue": queue, "since": since})
        return {minute: JobMinute(*numbers) for minute, *numbers in rows}

    return count


def _count_calls(since: datetime) -> dict[datetime, CallMinute]:
    found: dict[datetime, CallMinute] = {}
    for minute, lane, purpose, used, limited, cost in _rows("call_minutes", {"since": since}):
        entry = found.setdefault(minute, CallMinute())
        entry.used[lane, purpose] = used
        entry.limited[lane] = entry.limited.get(lane, 0) + limited
        entry.cost_usd += cost
    return found


def _rows(name: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(_statement(name), parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@cache
def _statement(name: str) -> str:
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text()


_jobs = {queue: Minutes(_count_jobs(queue)) for queue in jobs.QUEUES}
_calls = Minutes(_count_calls)


def forget() -> None:
    """Every minute is counted anew."""
    for kept in _jobs.values():
        kept.forget()
    _calls.forget()


def last_hour() -> dict[str, Any]:
    """The minutes of the last hour, the present one last, as one list of numbers for each thing that is drawn."""
    now = connections.now()
    minutes = [whole_minute(now) - MINUTE * ago for ago in range(59, -1, -1)]
    calls, gate = _calls_since_midnight(now), pacing.gate()
    return {
        "minutes": [minute.isoformat().replace("+00:00", "Z") for minute in minutes],
        "queues": {queue: _queue(queue, minutes, now) for queue in jobs.QUEUES},
        "provider": {lane.lane: _lane(lane, minutes, calls) for lane in (gate.chat, gate.embeddings)},
        "cost_usd": [float(calls[at].cost_usd) if at in calls else 0.0 for at in minutes],
    }


def cost_today() -> Decimal:
    """What the provider charged for the calls that were begun since midnight (UTC), in US dollars."""
    now = connections.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    calls = _calls_since_midnight(now)
    return sum((minute.cost_usd for at, minute in calls.items() if at >= midnight), Decimal(0))


def used_lately() -> dict[tuple[str, str], int]:
    """What was taken in the last sixty seconds, by lane and purpose, in units of the lane."""
    used: Counter[tuple[str, str]] = Counter()
    for minute in _count_calls(connections.now() - MINUTE).values():
        used.update(minute.used)
    return used


def _calls_since_midnight(now: datetime) -> dict[datetime, CallMinute]:
    """Also the last hour's, where midnight is nearer."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _calls.since(min(midnight, whole_minute(now) - HOUR), now)


def _queue(queue: str, minutes: list[datetime], now: datetime) -> dict[str, Any]:
    counted = _jobs[queue].since(minutes[0], now)
    rows = [counted.get(minute, JobMinute()) for minute in minutes]
    return {
        "bound": controlling.bound_of(queue).jobs,
        "depth": _depths(rows, standing.depth_of(queue).jobs),
        "accepted": [row.accepted for row in rows],
        "finished": [row.finished for row in rows],
        "given_up": [row.given_up for row in rows],
        "median_seconds": [row.median_seconds for row in rows],
        "longest_seconds": [row.longest_seconds for row in rows],
    }


def _depths(rows: list[JobMinute], present: int) -> list[int]:
    """The depth at the end of each minute, reckoned back from the present one."""
    found = []
    for row in reversed(rows):
        found.append(max(0, present))
        present -= row.growth
    return found[::-1]


def _lane(lane: LaneRoom, minutes: list[datetime], calls: dict[datetime, CallMinute]) -> dict[str, Any]:
    rows = [calls.get(minute, CallMinute()) for minute in minutes]
    questions, bulk = ([row.used.get((lane.lane, purpose), 0) for row in rows] for purpose in PURPOSES)
    return {
        "limit": lane.limit_per_minute,
        "questions": questions,
        "bulk": bulk,
        "limited": [row.limited.get(lane.lane, 0) for row in rows],
    }
