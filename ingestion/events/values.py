"""Reading an event's payload when it is applied: each field is there and of its kind, or the event is poison.

Pure: no database, no HTTP. What the envelope must be is `envelope`'s.
"""

from typing import Any, NoReturn

from ingestion.queue.outcomes import Rejected

INVALID_PAYLOAD = "invalid_payload"
TEXT_MAX = 255
SLUG_MAX = 100
# A ticket that names more policies than this is no honest ticket, and each is a row to lock.
DOCUMENTS_MAX = 100
# The range of the columns that numbers are compared with.
WHOLE_MAX = 2**31 - 1


def refuse(field: str, rule: str) -> NoReturn:
    """Raises Rejected: the event goes to quarantine with the field's name in its error."""
    raise Rejected(INVALID_PAYLOAD, f"payload.{field} {rule}")


def _present(payload: dict[str, Any], field: str) -> Any:
    value = payload.get(field)
    if value is None:
        refuse(field, "is missing.")
    return value


def text(payload: dict[str, Any], field: str, most: int = TEXT_MAX) -> str:
    """A text of 1 to `most` characters."""
    value = _present(payload, field)
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        refuse(field, f"must be a text of 1 to {most} characters.")
    return value


def slug(payload: dict[str, Any], field: str) -> str:
    """A document's slug; whether there is such a document is for the database to say."""
    return text(payload, field, SLUG_MAX)


def _as_whole(value: Any) -> int | None:
    """5 and 5.0 are one number in JSON; true and "5" are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == int(value) else None


def whole(payload: dict[str, Any], field: str, least: int, most: int = WHOLE_MAX) -> int:
    """A whole number between the two."""
    value = _as_whole(_present(payload, field))
    if value is None or not least <= value <= most:
        refuse(field, f"must be a whole number from {least} to {most}.")
    return value


def number(payload: dict[str, Any], field: str, least: float = 0, most: float = WHOLE_MAX) -> float:
    """A number between the two."""
    value = _present(payload, field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        refuse(field, f"must be a number from {least:g} to {most:g}.")
    return float(value)


def slugs(payload: dict[str, Any], field: str) -> list[str]:
    """1 to DOCUMENTS_MAX slugs, each once whatever the sender repeats, in alphabetical order."""
    value = _present(payload, field)
    if not isinstance(value, list) or not 1 <= len(value) <= DOCUMENTS_MAX:
        refuse(field, f"must be a list of 1 to {DOCUMENTS_MAX} documents.")
    for position, item in enumerate(value):
        if not isinstance(item, str) or not 1 <= len(item) <= SLUG_MAX:
            refuse(f"{field}[{position}]", f"must be a text of 1 to {SLUG_MAX} characters.")
    return sorted(set(value))
