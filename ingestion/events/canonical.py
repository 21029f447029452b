"""A payload as canonical JSON: two texts that say the same have one form, and so one hash (pure).

Keys are sorted, nothing stands between tokens, and a number is its value: 5, 5.0 and 50e-1 are one number, as for
every reader that holds numbers as doubles. Order in lists and the exact characters of texts are kept.
"""

import hashlib
import json
import sys
from typing import Any


def _plain(value: Any) -> Any:
    """The value with whole floats as integers. Raises ValueError for a number that no double can hold."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case int() if abs(value) > sys.float_info.max:
            raise ValueError("it holds a number beyond a double")
        case _:
            return value


def canonical(value: Any) -> str:
    """The canonical JSON text of a parsed value."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def payload_hash(kind: str, text: str) -> str:
    """SHA-256 over the event's type and its canonical payload: equal hashes are one event sent again."""
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()
