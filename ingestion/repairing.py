"""Repairing a quarantined event: another payload under the same identity, applied once, out of its turn."""

from typing import Any

from django.db import transaction

from ingestion import reviving
from ingestion.models import EventRecord, Job
from ingestion.reviving import NotRevivable


@transaction.atomic
def repair(event: EventRecord, payload: dict[str, Any]) -> None:
    """The event has this payload and its job is queued again. Raises NotRevivable, or QueueFull; then nothing changed.

    The hash stays that of what the producer sent: its own retries remain replays and never meet a conflict.
    """
    job = Job.objects.select_for_update(no_key=True).get(id=event.job_id)
    if job.state not in ("dead_letter", "failed"):
        raise NotRevivable(f"Only a quarantined event can be repaired; this one's job is {job.state}.")
    EventRecord.objects.filter(pk=event.pk).update(payload=payload)
    reviving.revive(job.id)
