"""Claiming: queued jobs become this worker's, each under a new generation and a lease."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Event
from uuid import UUID

from django.conf import settings
from django.db import transaction

from ingestion import connections
from ingestion.queue.sql import statement


@dataclass(frozen=True)
class Claim:
    """A job that runs here. Every write names `id` and `generation`; `lost` is set when the lease is gone.

    `served` is set once the job has reached the lane that it was claimed for: until then its share of the lane's room
    is spoken for, though nothing is reserved yet.
    """

    id: UUID
    queue: str
    kind: str
    generation: int
    attempt: int
    max_attempts: int
    partition: str | None
    sequence: int
    caller_id: int
    request_id: str
    lane: str = ""
    served: Event = field(default_factory=Event, compare=False, repr=False)
    lost: Event = field(default_factory=Event, compare=False, repr=False)

    @property
    def key(self) -> tuple[UUID, int]:
        return (self.id, self.generation)


def claim(queue: str, kinds: Iterable[str], *, lane: str, limit: int, worker: str) -> list[Claim]:
    """Up to `limit` ready jobs whose next step needs `lane` run here now, in order of turn. One statement."""
    rows = connections.prepared(
        statement("claim"),
        {
            "queue": queue,
            "kinds": list(kinds),
            "lane": lane,
            "limit": limit,
            "worker": worker,
            "lease_seconds": settings.LEASE_SECONDS,
        },
    )
    return sorted((Claim(*row) for row in rows), key=lambda found: found.sequence)


def claim_partitions(
    queue: str, kinds: Iterable[str], *, limit: int, partitions: int, worker: str
) -> dict[str, list[Claim]]:
    """Up to `limit` ready jobs run here now, in runs: for each partition its next jobs in order of acceptance.

    A partition of which a job runs anywhere gives none, so that its order holds over all workers.
    """
    with transaction.atomic():
        locked = connections.prepared(statement("lock_partitions"), {"queue": queue, "limit": partitions})
        if not locked:
            return {}
        rows = connections.prepared(
            statement("claim_partitions"),
            {
                "partitions": [name for (name,) in locked],
                "kinds": list(kinds),
                "run_length": max(1, limit // len(locked)),
                "limit": limit,
                "worker": worker,
                "lease_seconds": settings.LEASE_SECONDS,
            },
        )
    runs: dict[str, list[Claim]] = {}
    for found in sorted((Claim(*row) for row in rows), key=lambda found: found.sequence):
        runs.setdefault(found.partition or "", []).append(found)
    return runs
