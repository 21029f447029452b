"""The ledger of events: what was offered, what was accepted and what became of it, so that the sums can be checked.

Accepted events are counted from their rows. What left no row (replays, refusals) is counted here, once each.
"""

from collections import Counter
from collections.abc import Iterable

from django.db import connection

from ingestion import connections
from ingestion.events.sql import statement

STATES = ("completed", "queued", "running", "quarantined", "expired", "cancelled")
REFUSALS = ("replayed", "rejected", "invalid", "conflict")
_COLUMNS = ("accepted", *STATES, *REFUSALS)

# What a job's state means for its event.
EVENT_STATES = {
    "queued": "queued",
    "running": "running",
    "succeeded": "completed",
    "dead_letter": "quarantined",
    "failed": "quarantined",
    "expired": "expired",
    "cancelled": "cancelled",
}


def outcome_of(code: str) -> str:
    """As what an offered event counts that was refused with this problem code."""
    if code == "event_conflict":
        return "conflict"
    return "rejected" if code in ("rate_limited", "queue_full", "draining", "unavailable") else "invalid"


def count(caller_id: int, outcomes: Iterable[str]) -> None:
    """The outcomes that left no event are counted for the caller, each once, in one statement; others are ignored."""
    found = Counter(outcome for outcome in outcomes if outcome in REFUSALS)
    if not found:
        return
    numbers = {name: found[name] for name in REFUSALS}
    connections.prepared(statement("count_refusals"), {"caller": caller_id, **numbers})


def read(caller_id: int | None) -> dict[str, int | bool]:
    """The ledger of one caller, or (None) of all. `balanced`: every accepted event is in one of the six states."""
    with connection.cursor() as cursor:
        cursor.execute(statement("ledger"), {"caller": caller_id})
        numbers: dict[str, int] = dict(zip(_COLUMNS, cursor.fetchone(), strict=True))
    offered = numbers["accepted"] + sum(numbers[name] for name in REFUSALS)
    is_balanced = numbers["accepted"] == sum(numbers[state] for state in STATES)
    shown = ("accepted", *REFUSALS, *STATES)
    return {"offered": offered, **{name: numbers[name] for name in shown}, "balanced": is_balanced}
