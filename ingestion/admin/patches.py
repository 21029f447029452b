"""Changing many payloads alike (pure): a JSON merge patch, RFC 7396."""

from typing import Any


def merged(payload: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The payload with the patch's keys: null takes a key away, objects are merged, all else is replaced."""
    result = dict(payload)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result
