"""The table of event types: read it to know what may be sent, what it costs, and what it changes.

Pure: a type turns a payload into the changes of the usage projection, or raises Rejected.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingestion.events import values


@dataclass(frozen=True)
class Change:
    """What one event adds to one document's day. `version` None: the event names no version."""

    document: str
    version: int | None = None
    views: int = 0
    citations: int = 0
    ratings: int = 0
    rating_sum: int = 0
    resolved: int = 0


@dataclass(frozen=True)
class EventType:
    """`cost`: work units of the bound that one event takes; it counts the rows that applying it locks and writes."""

    cost: int
    changes: Callable[[dict[str, Any]], list[Change]]


def _version(payload: dict[str, Any]) -> int:
    return values.whole(payload, "version", 1)


def _rated(payload: dict[str, Any]) -> list[Change]:
    values.text(payload, "answer_id")
    document = values.slug(payload, "document")
    version = None if payload.get("version") is None else _version(payload)
    return [Change(document, version, ratings=1, rating_sum=values.whole(payload, "rating", 1, 5))]


def _cited(payload: dict[str, Any]) -> list[Change]:
    values.text(payload, "answer_id")
    values.whole(payload, "position", 0)
    return [Change(values.slug(payload, "document"), _version(payload), citations=1)]


def _viewed(payload: dict[str, Any]) -> list[Change]:
    return [Change(values.slug(payload, "document"), _version(payload), views=1)]


def _resolved(payload: dict[str, Any]) -> list[Change]:
    values.text(payload, "ticket_id")
    values.number(payload, "minutes")
    return [Change(document, resolved=1) for document in values.slugs(payload, "documents")]


TYPES = {
    "answer.rated": EventType(1, _rated),
    "answer.cited": EventType(1, _cited),
    "document.viewed": EventType(1, _viewed),
    # Touches a row for each of its documents, up to a hundred; ten is what a large ticket costs against a view.
    "ticket.resolved": EventType(10, _resolved),
}
