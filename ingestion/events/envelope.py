"""The envelope of an event, checked at the door: each wrong field is refused by its name (pure).

What a payload must hold is checked when it is applied (`types`); CloudEvents' own names are `cloudevents`'.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ingestion.events.canonical import canonical, payload_hash
from ingestion.events.types import TYPES
from ingestion.problems import Problem

NAME_MAX = 255
PAYLOAD_MAX_BYTES = 65_536
# C0, DEL and C1 controls, and lone surrogates: no honest name holds one, and NUL can't be stored.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)

# Our field → the sender's attribute.
PLAIN = {
    field: field for field in ("producer", "event_id", "type", "occurred_at", "partition", "expires_at", "payload")
}


@dataclass(frozen=True)
class Envelope:
    """A checked event. `occurred_at` None: when it is received. `payload` is canonical JSON."""

    producer: str
    event_id: str
    type: str
    partition: str
    occurred_at: datetime | None
    expires_at: datetime | None
    payload: str
    payload_hash: str

    @property
    def identity(self) -> tuple[str, str]:
        return (self.producer, self.event_id)

    @property
    def units(self) -> int:
        return TYPES[self.type].cost

    @property
    def bytes(self) -> int:
        """What it takes of the bound: the stored payload and the names around it."""
        return sum(len(text.encode()) for text in (self.payload, *self.identity, self.type, self.partition))


def invalid(field: str, rule: str) -> Problem:
    """The 422 that names the field."""
    return Problem("invalid_event", f"{field} {rule}", field=field)


def read(event: Any, names: Mapping[str, str] = PLAIN, *, needs_time: bool = True) -> Envelope:
    """The envelope in a parsed JSON object, whose attributes have the sender's `names`; others are ignored.

    Raises Problem 422 `invalid_event` with the attribute's name, 400 for what is no object, 413 for a payload above
    PAYLOAD_MAX_BYTES.
    """
    if not isinstance(event, dict):
        raise Problem("invalid_request", "An event is a JSON object.")
    producer = _name(event, names["producer"])
    event_id = _name(event, names["event_id"])
    kind = _type(event, names["type"])
    time, partition = names["occurred_at"], names["partition"]
    payload = _payload(event, names["payload"])
    return Envelope(
        producer=producer,
        event_id=event_id,
        type=kind,
        partition=producer if event.get(partition) is None else _name(event, partition),
        occurred_at=_moment(event, time) if needs_time or event.get(time) is not None else None,
        expires_at=None if event.get(names["expires_at"]) is None else _moment(event, names["expires_at"]),
        payload=payload,
        payload_hash=payload_hash(kind, payload),
    )


def _present(event: Mapping[str, Any], field: str) -> Any:
    value = event.get(field)
    if value is None:
        raise invalid(field, "is missing.")
    return value


def _name(event: Mapping[str, Any], field: str) -> str:
    value = _present(event, field)
    if not isinstance(value, str) or not 1 <= len(value) <= NAME_MAX:
        raise invalid(field, f"must be a text of 1 to {NAME_MAX} characters.")
    if found := _CONTROL.search(value):
        raise invalid(field, f"holds the control character U+{ord(found[0]):04X}.")
    return value


def _type(event: Mapping[str, Any], field: str) -> str:
    value = _present(event, field)
    if not isinstance(value, str) or value not in TYPES:
        raise invalid(field, f"is not known here; known are {', '.join(TYPES)}.")
    return value


def _moment(event: Mapping[str, Any], field: str) -> datetime:
    """RFC 3339 with a zone, as a moment in UTC."""
    value = _present(event, field)
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise invalid(field, "must be a time as RFC 3339 has it, with a zone, like 2026-11-27T09:00:00Z.")
    try:
        # A zone can move the first or the last day of the calendar out of it.
        return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid(field, "is no moment of the calendar, years 1 to 9999.") from None


def _payload(event: Mapping[str, Any], field: str) -> str:
    value = _present(event, field)
    if not isinstance(value, dict):
        raise invalid(field, "must be a JSON object.")
    try:
        text = canonical(value)
    except ValueError as error:
        raise invalid(field, f"can't be kept: {error}.") from None
    if len(text.encode()) > PAYLOAD_MAX_BYTES:
        raise Problem("too_large", f"{field} may have at most {PAYLOAD_MAX_BYTES} bytes.", field=field)
    return text
