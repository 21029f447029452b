"""The two statements of admission: look without a lock, then save what the bound has places for.

One event has a pair of its own (`look_one`, and `save` with one): functions of the database, which cost a third.

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
class Glance:
    """What `look_one` saw: the caller's row (None: no valid token), the queue and the event, and whether the refusal of
    a full queue is counted already."""

    caller: tuple[Any, ...] | None
    sight: Sight
    is_counted: bool


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


LOOK_ONE = """
SELECT caller_id, caller_name, rights, uploads_per_minute, true, user_id,
       is_draining, has_place, asked_at, jobs_ahead, units_ahead, is_counted, owner_id, payload_hash, job_id, job_state
FROM ingestion_look_event(%(queue)s, %(token_hash)s, %(producer)s, %(event_id)s,
                          %(max_jobs)s, %(max_units)s, %(max_bytes)s, %(counts)s)
"""
# The columns of LOOK_ONE that are a caller's (`authentication.COLUMNS`), and those of a Sight's queue.
_CALLER, _QUEUE = slice(0, 6), slice(6, 11)


def look_one(token_hash: str, event: Envelope) -> Glance:
    """Who sends the event, and what `look` says of it, in one round trip; takes no lock.

    The refusal of a full queue is counted with it, where nothing of the event itself can be refused first.
    """
    bound = bound_of(QUEUE)
    counts = event.expires_at is None and event.units <= bound.units and event.bytes <= bound.bytes
    (row,) = connections.prepared(
        LOOK_ONE,
        {
            "queue": QUEUE,
            "token_hash": token_hash,
            "producer": event.producer,
            "event_id": event.event_id,
            "max_jobs": bound.jobs,
            "max_units": bound.units,
            "max_bytes": bound.bytes,
            "counts": counts,
        },
    )
    sight = Sight({event.identity: Seen(*row[12:])}, *row[_QUEUE])
    return Glance(row[_CALLER] if row[0] is not None else None, sight, bool(row[11]))


def save(
    caller_id: int, events: Sequence[Envelope], promises: Sequence[Promise], *, basis: str, request_id: str
) -> list[UUID]:
    """The first events that the bound has places for are accepted; returns their jobs, in order. Raises Raced."""
    try:
        if len(events) == 1:
            one = _parameters_of_one(caller_id, events[0], promises[0], basis, request_id)
            saved = connections.prepared(SAVE_ONE, one)
        else:
            many = _parameters(caller_id, events, promises, basis, request_id)
            saved = connections.prepared(statement("admit"), many)
        return [row[0] for row in saved if row[0] is not None]
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if diagnosis is not None and diagnosis.constraint_name in RACED:
            raise Raced from None
        raise


SAVE_ONE = """
SELECT ingestion_save_event(
    %(queue)s, %(caller)s, %(producer)s, %(event_id)s, %(type)s, %(partition)s, %(occurred)s, %(expires)s, %(payload)s,
    %(hash)s, %(units)s, %(bytes)s, %(wait)s, %(low)s, %(high)s, %(basis)s, %(ahead)s, %(request_id)s,
    %(max_attempts)s, %(max_jobs)s, %(max_units)s, %(max_bytes)s, %(channel)s, %(notify_depth)s)
"""


def _parameters_of_one(
    caller_id: int, event: Envelope, promise: Promise, basis: str, request_id: str
) -> dict[str, Any]:
    return {
        **_settings(caller_id, basis, request_id),
        "producer": event.producer,
        "event_id": event.event_id,
        "type": event.type,
        "partition": event.partition,
        "occurred": event.occurred_at,
        "expires": event.expires_at,
        "payload": event.payload,
        "hash": event.payload_hash,
        "units": event.units,
        "bytes": event.bytes,
        "wait": promise.wait_seconds,
        "low": promise.low_seconds,
        "high": promise.high_seconds,
        "ahead": promise.jobs_ahead,
    }


def _settings(caller_id: int, basis: str, request_id: str) -> dict[str, Any]:
    """What is the same for one and for many."""
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
    }


def _parameters(
    caller_id: int, events: Sequence[Envelope], promises: Sequence[Promise], basis: str, request_id: str
) -> dict[str, Any]:
    return {
        **_settings(caller_id, basis, request_id),
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
