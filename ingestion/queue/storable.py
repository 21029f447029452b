"""The one gate that free text passes on its way into the database (pure)."""

import re

# PostgreSQL's text holds neither NUL nor lone surrogates; the other control characters only spoil a terminal.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def storable(text: str, most: int | None = None) -> str:
    """The text as PostgreSQL can hold it, at most `most` characters: what it can't hold becomes U+FFFD."""
    cleaned = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return cleaned if most is None or len(cleaned) <= most else cleaned[: most - 1] + "…"
