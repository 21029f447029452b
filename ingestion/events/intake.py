"""The two statements of admission: look without a lock, then save what the bound has places for.

They know rows, not callers' limits or answers; those are `ingestion.event_admission`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection

from ingestion import connections
from ingestion.events.envelope import Envelope
from ingestion.events.sql import statement
from ingestion.queue.controlling import bound_of
from ingestion.queue.wakeup import CHANNEL, DEPTH_MAX

QUEUE = "events"
# What another admission can have taken between the look and the statement; the next look sees it.
RACED = {"event_identity_once", "ingestion_producerowner_pkey"}

Identity = tuple[str, str]


class Raced(Exception):
    """Another transaction committed the same identity or producer first; nothing was saved."""


@dataclass(frozen=True)
class Seen:
    """What is committed of an identity: its producer's owner, and the event's hash and job where there is one."""

    owner: int | None
    payload_hash: str | None
    job_id: UUID | None
    state: str | None


@dataclass(frozen=True)
class Sight:
    """One snapshot of the queue, and of each identity that was asked for."""

    events: dict[Identity, Seen]
    is_draining: bool
    has_place: bool
    now: datetime
    jobs_ahead: int
    units_ahead: int


@dataclass(frozen=True)
class Promise:
    """What a new event is told of its wait, kept with its job."""

    wait_seconds: float
    low_seconds: float
    high_seconds: float
    jobs_ahead: int


def look(caller_id: int, identities: Sequence[Identity]) -> Sight:
    """The queue and at least one identity as last committed; takes no lock."""
    bound = bound_of(QUEUE)
    rows = connections.prepared(
        statement("look"),
        {
            "queue": QUEUE,
            "caller": caller_id,
            "max_jobs": bound.jobs,
            "max_units": bound.units,
            "max_bytes": bound.bytes,
            "producers": [producer for producer, _ in identities],
            "event_ids": [event_id for _, event_id in identities],
        },
    )
    return Sight({(row[5], row[6]): Seen(*row[7:]) for row in rows}, *rows[0][:5])


def save(
    caller_id: int, events: Sequence[Envelope], promises: Sequence[Promise], *, basis: str, request_id: str
) -> list[UUID]:
    """The first events that the bound has places for are accepted; returns their jobs, in order. Raises Raced."""
    try:
        saved = connections.prepared(statement("admit"), _parameters(caller_id, events, promises, basis, request_id))
        return [row[0] for row in saved]
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if diagnosis is not None and diagnosis.constraint_name in RACED:
            raise Raced from None
        raise


def _parameters(
    caller_id: int, events: Sequence[Envelope], promises: Sequence[Promise], basis: str, request_id: str
) -> dict[str, Any]:
    bound = bound_of(QUEUE)
    return {
        "queue": QUEUE,
        "caller": caller_id,
        "max_jobs": bound.jobs,
        "max_units": bound.units,
        "max_bytes": bound.bytes,
        "max_attempts": settings.MAX_ATTEMPTS,
        "basis": basis,
        "request_id": request_id,
        "channel": CHANNEL,
        "notify_depth": DEPTH_MAX,
        "producers": [event.producer for event in events],
        "event_ids": [event.event_id for event in events],
        "types": [event.type for event in events],
        "partitions": [event.partition for event in events],
        "occurred": [event.occurred_at for event in events],
        "expires": [event.expires_at for event in events],
        "payloads": [event.payload for event in events],
        "hashes": [event.payload_hash for event in events],
        "units": [event.units for event in events],
        "bytes": [event.bytes for event in events],
        "waits": [promise.wait_seconds for promise in promises],
        "lows": [promise.low_seconds for promise in promises],
        "highs": [promise.high_seconds for promise in promises],
        "ahead": [promise.jobs_ahead for promise in promises],
    }


def live_jobs(caller_id: int) -> int:
    """The caller's unfinished events, exact until the transaction ends: it now holds the depth's row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM ingestion_queuestate WHERE queue = %s FOR NO KEY UPDATE", [QUEUE])
        cursor.execute(
            "SELECT count(*) FROM ingestion_job WHERE queue = %s AND caller_id = %s AND state IN ('queued', 'running')",
            [QUEUE, caller_id],
        )
        return int(cursor.fetchone()[0])
