"""Sweeps that every worker makes: rescue of jobs whose lease ran out, and jobs whose time is over.

Each is a statement of its own with skip locked: a sweep never waits, and a row that can't be written stops no other.
"""

import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

from ingestion.queue.sql import statement

log = logging.getLogger("ingestion.queue")

SWEEP_MAX = 500


def _rows(name: str, values: dict[str, Any], *, limit: int, passed: int = 0) -> list[tuple[Any, ...]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement(name), {**values, "limit": limit, "passed": passed})
        return list(cursor.fetchall())


def _sweep(name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows that the statement changed: all in one, or, where one row breaks it, each by itself without that one."""
    try:
        return _rows(name, values, limit=SWEEP_MAX)
    except OperationalError:
        # The database is away, or a deadlock: no row's fault.
        raise
    except DatabaseError:
        return _one_by_one(name, values)


def _one_by_one(name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    passed = 0
    while len(found) + passed < SWEEP_MAX:
        try:
            row = _rows(name, values, limit=1, passed=passed)
        except OperationalError:
            raise
        except DatabaseError as error:
            passed += 1
            log.error("a row can't be swept and is set aside", extra={"sweep": name, "reason": str(error)[:500]})
            continue
        if not row:
            break
        found += row
    return found


def rescue() -> list[tuple[UUID, str, str]]:
    """(job, state that it got, worker that lost it) of each job whose lease had run out."""
    return [(job_id, state, worker) for job_id, state, worker in _sweep("rescue", {})]


def _end_queued(state: str, code: str, detail: str, blocked_since: datetime | None) -> list[UUID]:
    rows = _sweep(
        "end_queued",
        {
            "state": state,
            "error_code": code,
            "error_detail": detail,
            "max_wait_seconds": settings.MAX_WAIT_SECONDS,
            "blocked_since": blocked_since,
        },
    )
    return [job_id for (job_id,) in rows]


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
