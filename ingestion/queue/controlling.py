"""What people do to jobs from outside: cancel, revive, and what admission does: insert and take a place."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection

from ingestion import connections
from ingestion.queue.sql import statement
from ingestion.queue.wakeup import CHANNEL, DEPTH_MAX


class QueueFull(Exception):
    """The bound leaves no place (or the queue is draining); the transaction must be undone."""


@dataclass(frozen=True)
class Bound:
    """The most unfinished work that a queue accepts, in jobs, work units and bytes."""

    jobs: int
    units: int
    bytes: int


def bound_of(queue: str) -> Bound:
    """The configured bound of a queue."""
    prefix = queue.upper()
    return Bound(*(getattr(settings, f"{prefix}_QUEUE_MAX{part}") for part in ("", "_UNITS", "_BYTES")))


@dataclass(frozen=True)
class NewJob:
    """What admission knows of a job. Estimates are in seconds, None where nothing is promised."""

    queue: str
    kind: str
    caller_id: int
    units: int
    bytes: int
    lane: str = ""
    partition: str | None = None
    expires_at: datetime | None = None
    estimate_seconds: float | None = None
    low_seconds: float | None = None
    high_seconds: float | None = None
    basis: str = ""
    jobs_ahead: int | None = None
    request_id: str = ""


def insert(job: NewJob) -> UUID:
    """The job stands in the queue at its caller's next turn. Take its place in the same transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement("insert_job"), {**vars(job), "max_attempts": settings.MAX_ATTEMPTS})
        return UUID(str(cursor.fetchone()[0]))


def take_place(queue: str, units: int, size: int) -> int:
    """The depth counts one job more. Returns the new depth in jobs; raises QueueFull at the bound.

    The last lock of every transaction that takes it: its row is held only until the commit that follows.
    """
    bound = bound_of(queue)
    rows = connections.prepared(
        statement("take_place"),
        {
            "queue": queue, "units": units, "bytes": size,
            "max_jobs": bound.jobs, "max_units": bound.units, "max_bytes": bound.bytes,
            "channel": CHANNEL, "notify_depth": DEPTH_MAX,
        },
    )  # fmt: skip
    if not rows:
        raise QueueFull(queue)
    return int(rows[0][0])


def cancel(
    ids: Iterable[UUID], *, running_too: bool = False, code: str = "cancelled", detail: str = "Cancelled on request."
) -> set[UUID]:
    """Those of the jobs that could be are cancelled; with `running_too` a running one loses its claim."""
    with connection.cursor() as cursor:
        cursor.execute(
            statement("cancel"),
            {"ids": list(ids), "running_too": running_too, "error_code": code, "error_detail": detail},
        )
        return {row[0] for row in cursor.fetchall()}


def revive(job_id: UUID) -> bool:
    """A dead letter or failed job is queued with a fresh budget. False: it is none. Raises QueueFull at the bound.

    Call it inside a transaction: the job and its place belong together.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement("revive"), {"id": job_id})
        row = cursor.fetchone()
    if row is None:
        return False
    take_place(*row)
    return True
