"""Applying an event: its effect, the partition's checkpoint and the job's settlement commit together, once.

Lock order of that transaction: checkpoint, usage rows in document order, job, depth.
"""

from datetime import UTC
from functools import partial

from django.db.models.functions import Greatest, Now

from ingestion.events.effects import add_usage
from ingestion.events.types import TYPES
from ingestion.events.values import INVALID_PAYLOAD
from ingestion.models import Checkpoint, EventEffect, EventRecord
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Done, Outcome, Rejected


def apply_event(claim: Claim) -> Outcome:
    """The handler of `apply_event`: all of the work is the effect, so that nothing of it commits alone."""
    return Done(effect=partial(_apply, claim))


def _apply(claim: Claim) -> None:
    """The event's effect is in the projection. Raises Rejected for an event that can never be applied."""
    event = EventRecord.objects.filter(job=claim.id).first()
    if event is None:
        raise Rejected("event_missing", "The job names no event.")
    # Excludes every other claim of the partition until the commit, also one that has lost its lease and goes on.
    Checkpoint.objects.select_for_update().get(partition=event.partition)
    if _is_first(event, claim):
        _add(event)
    # A repaired event is older than what was applied after it: the checkpoint stays where it is.
    Checkpoint.objects.filter(partition=event.partition).update(
        last_applied=Greatest("last_applied", claim.sequence), updated_at=Now()
    )


def _is_first(event: EventRecord, claim: Claim) -> bool:
    """Nobody applied the event before. The effect's identity is stored before the effect: its key is the guard."""
    if EventEffect.objects.filter(event=event).exists():
        return False
    EventEffect.objects.create(event=event, generation=claim.generation)
    return True


def _add(event: EventRecord) -> None:
    kind = TYPES.get(event.type)
    if kind is None:
        raise Rejected("unknown_type", f"This program knows no event of type {event.type!r}.")
    if not isinstance(event.payload, dict):
        raise Rejected(INVALID_PAYLOAD, "payload must be a JSON object.")
    add_usage(kind.changes(event.payload), event.occurred_at.astimezone(UTC).date())
