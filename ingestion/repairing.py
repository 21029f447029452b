"""Repairing a quarantined event: another payload under the same identity, applied once, out of its turn."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import transaction

from ingestion import reviving
from ingestion.models import EventRecord, Job
from ingestion.reviving import NotRevivable


@transaction.atomic
def repair(
    event: EventRecord,
    payload: dict[str, Any],
    *,
    seen_generation: int | None = None,
    bring_back: Callable[[UUID], None] = reviving.revive,
) -> None:
    """The event has this payload and its job is queued again. Raises NotRevivable, or QueueFull; then nothing changed.

    `seen_generation`: the job's generation when the payload was looked at; another one means that somebody else has
    repaired or retried it since, and raises NotRevivable too. `bring_back` queues the job, in this transaction.
    The hash stays that of what the producer sent: its own retries remain replays and never meet a conflict.
    """
    job = Job.objects.select_for_update(no_key=True).get(id=event.job_id)
    if job.state not in ("dead_letter", "failed"):
        raise NotRevivable(f"Only a quarantined event can be repaired; the job of {event} is {job.state}.")
    if seen_generation not in (None, job.generation):
        raise NotRevivable(f"Somebody else has repaired or retried {event} meanwhile; look at it again.")
    EventRecord.objects.filter(pk=event.pk).update(payload=payload)
    bring_back(job.id)
