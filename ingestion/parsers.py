"""Bodies into values: JSON read strictly, so that what is stored is what was sent."""

import json
import sys
from typing import Any

from rest_framework.parsers import BaseParser

from ingestion.problems import Problem

# Deep enough for any honest payload, far from the interpreter's recursion limit.
NESTING_MAX = 64
JSON_MAX_BYTES = 1_048_576


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {double[:80]!r} stands twice in one object")
    return found


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits[:40]} is beyond a double")
    return value


def _whole(digits: str) -> int:
    # An integer that a double can't hold would be another number for the next reader.
    if len(digits) > 310 or abs(whole := int(digits)) > sys.float_info.max:
        raise ValueError(f"the number {digits[:40]}… is beyond a double")
    return whole


def _check_depth(text: str) -> None:
    """Counts brackets outside strings before parsing, so that no nesting reaches the parser's recursion."""
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > NESTING_MAX:
                raise ValueError(f"it is nested deeper than {NESTING_MAX}")
        elif character in "]}":
            depth -= 1


def _check_text(value: Any) -> None:
    """Refuses what PostgreSQL's text can't hold: NUL and lone surrogates, in keys too."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, str):
            if "\x00" in item:
                raise ValueError("a text holds the character NUL (\\u0000)")
            if any("\ud800" <= character <= "\udfff" for character in item):
                raise ValueError("a text holds a lone surrogate (\\ud800 to \\udfff)")


def parse_json(body: bytes) -> Any:
    """The JSON value of `body` (UTF-8). Raises ValueError that says what is wrong in the sender's words."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} (0x{body[error.start]:02x}) is not UTF-8") from None
    # Cheap for every ordinary body: only one with many brackets is walked.
    if text.count("[") + text.count("{") > NESTING_MAX:
        _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    if "\\u" in text or "\x00" in text:
        _check_text(value)
    return value


class StrictJSONParser(BaseParser):
    """application/json and its kin; a malformed body is 400 `invalid_request`."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read(JSON_MAX_BYTES + 1)
        if len(body) > JSON_MAX_BYTES:
            raise Problem("too_large", f"A JSON body may have at most {JSON_MAX_BYTES} bytes.")
        try:
            return parse_json(body)
        except ValueError as error:
            raise Problem("invalid_request", f"The body is not valid JSON: {error}.") from None


class RawParser(BaseParser):
    """Hands the unread stream through: the view bounds and reads it itself."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream
