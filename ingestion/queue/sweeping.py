"""Sweeps that every worker makes: rescue of jobs whose lease ran out, and jobs whose time is over.

Each is a statement of its own with skip locked: a sweep never waits, and one that fails stops no other.
"""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection

from ingestion.queue.sql import statement

SWEEP_MAX = 500


def rescue() -> list[tuple[UUID, str, str]]:
    """(job, state that it got, worker that lost it) of each job whose lease had run out."""
    with connection.cursor() as cursor:
        cursor.execute(statement("rescue"), {"limit": SWEEP_MAX})
        return list(cursor.fetchall())


def _end_queued(state: str, code: str, detail: str, blocked_since: datetime | None) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            statement("end_queued"),
            {
                "state": state,
                "error_code": code,
                "error_detail": detail,
                "max_wait_seconds": settings.MAX_WAIT_SECONDS,
                "blocked_since": blocked_since,
                "limit": SWEEP_MAX,
            },
        )
        return [row[0] for row in cursor.fetchall()]


def expire() -> list[UUID]:
    """The queued jobs whose deadline has passed are expired."""
    return _end_queued("expired", "expired", "The deadline passed before a worker came to it.", None)


def end_long_waits(blocked_since: datetime | None) -> list[UUID]:
    """The queued jobs that waited too long for the provider are dead letters.

    `blocked_since`: since when the provider takes nothing at all (None: it does), so that jobs which no worker
    touched meanwhile count as waiting too.
    """
    detail = f"It waited for the provider longer than {settings.MAX_WAIT_SECONDS:g} s in all."
    return _end_queued("dead_letter", "wait_exceeded", detail, blocked_since)
