"""Applying many events at once: what `applying` does for each, in four statements for all of them.

Only the plain case is known here. Whatever is odd about one event raises, and undoes the others with it; the worker
then tries smaller parts, at last each event by itself, as `applying` has it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from ingestion import connections
from ingestion.events.sql import statement
from ingestion.events.types import TYPES
from ingestion.events.values import INVALID_PAYLOAD
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Rejected

COLUMNS = ("views", "citations", "ratings", "rating_sum", "resolved")


class _Event(NamedTuple):
    job_id: UUID
    id: int
    partition: str
    type: str
    occurred_at: datetime
    # Its JSON as text: Django's connections leave reading it to the model.
    payload: str
    is_applied: bool


class _Spot(NamedTuple):
    """One row of the projection; version 0 where an event names none."""

    slug: str
    version: int
    date: date


def apply_together(claims: Sequence[Claim]) -> None:
    """Inside a transaction: the effects of all the events and their partitions' checkpoints are there.

    Raises Rejected where one can't be applied; nothing of the others may stay then.
    """
    jobs = {"jobs": [claim.id for claim in claims]}
    connections.prepared(statement("lock_partitions_of"), jobs)
    # A statement of its own, behind the locks: what another worker applied before us is committed and seen.
    found = {row[0]: _Event(*row) for row in connections.prepared(statement("read_together"), jobs)}
    if len(found) < len(claims):
        raise Rejected("event_missing", "A job names no event.")
    new = [claim for claim in claims if not found[claim.id].is_applied]
    reached: dict[str, int] = defaultdict(int)
    for claim in claims:
        partition = found[claim.id].partition
        reached[partition] = max(reached[partition], claim.sequence)
    missing = connections.prepared(
        statement("apply_together"),
        {
            **_columns(_growth(found[claim.id] for claim in new)),
            "events": [found[claim.id].id for claim in new],
            "generations": [claim.generation for claim in new],
            "partitions": list(reached),
            "sequences": list(reached.values()),
        },
    )
    if missing:
        raise Rejected(INVALID_PAYLOAD, f"An event names what is not there: {missing[0]}.")


def _growth(events: Iterable[_Event]) -> dict[_Spot, Counter[str]]:
    """What each row of the projection grows by. Raises Rejected for a payload that says nothing."""
    growth: dict[_Spot, Counter[str]] = defaultdict(Counter)
    for event in events:
        kind = TYPES.get(event.type)
        payload = json.loads(event.payload)
        if kind is None or not isinstance(payload, dict):
            raise Rejected(INVALID_PAYLOAD, f"The event {event.id} can't be applied with others.")
        day = event.occurred_at.astimezone(UTC).date()
        for change in kind.changes(payload):
            spot = growth[_Spot(change.document, change.version or 0, day)]
            for column in COLUMNS:
                spot[column] += getattr(change, column)
    return growth


def _columns(growth: dict[_Spot, Counter[str]]) -> dict[str, list[Any]]:
    return {
        "slugs": [spot.slug for spot in growth],
        "versions": [spot.version for spot in growth],
        "dates": [spot.date for spot in growth],
        **{column: [numbers[column] for numbers in growth.values()] for column in COLUMNS},
    }
