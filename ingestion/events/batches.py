"""A batch's body as its events, so that one that can't be read does not sink the others (pure)."""

import re
from dataclasses import dataclass
from typing import Any

from ingestion.parsers import parse_json

# A string (possessive, so that no input makes it backtrack), or a mark of JSON's structure.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:,]', re.DOTALL)


@dataclass(frozen=True)
class Unreadable:
    """An event whose text is no acceptable JSON, and why."""

    reason: str


def read_events(body: bytes, key: str | None) -> Any:
    """The list under `key` (None: the body itself), as parsed; unreadable elements are Unreadable.

    What stands there may be no list: that is for the caller to refuse. Raises ValueError where the body's own frame
    is not valid JSON.
    """
    try:
        return _under(parse_json(body), key)
    except ValueError as error:
        # surrogateescape: a byte that is no UTF-8 spoils only the event that it stands in.
        slices, frame = _cut(body.decode("utf-8", "surrogateescape"), key)
        framed = _under(parse_json(frame.encode("utf-8", "surrogateescape")), key)
        # Nothing between two commas, or after the last one, is no event: then the list itself is malformed.
        if not isinstance(framed, list) or len(framed) != len(slices) or not all(map(str.strip, slices)):
            raise error
        return [_parse(text) for text in slices]


def _under(value: Any, key: str | None) -> Any:
    if key is None:
        return value
    return value.get(key) if isinstance(value, dict) else None


def _parse(text: str) -> Any:
    try:
        return parse_json(text.encode("utf-8", "surrogateescape"))
    except ValueError as error:
        return Unreadable(str(error))


def _cut(text: str, key: str | None) -> tuple[list[str], str]:
    """The list's elements as texts, and the body with a 0 in the place of each."""
    depth, inside, start = 0, 0, 0
    before: tuple[str, str] = ("", "")
    slices: list[str] = []
    frame: list[str] = []
    kept = 0
    for match in _TOKEN.finditer(text):
        mark, at = match[0], match.start()
        if not inside and mark == "[" and _opens(depth, before, key):
            inside, start = depth + 1, match.end()
        elif inside and depth == inside and mark in ",]":
            if mark == "," or slices or text[start:at].strip():
                slices.append(text[start:at])
                frame += [text[kept:start], "0"]
                kept = at
            start = match.end()
            inside = -1 if mark == "]" else inside
        depth += (mark in "[{") - (mark in "]}")
        before = (before[1], mark)
    return slices, "".join([*frame, text[kept:]])


def _opens(depth: int, before: tuple[str, str], key: str | None) -> bool:
    """A bracket here opens the list that is looked for."""
    return depth == 0 if key is None else (depth, *before) == (1, f'"{key}"', ":")
