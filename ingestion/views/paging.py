"""Pages of a list: `{"results": […], "next": url or null}` with an opaque cursor."""

import base64
import binascii
import json
from typing import Any
from urllib.parse import urlencode

from rest_framework.request import Request

from ingestion.problems import Problem
from ingestion.queue.storable import storable

PAGE_SIZE = 50


def read_cursor(request: Request, kind: type[str] | type[int]) -> Any:
    """The position after which the page begins, None for the first. Raises Problem 400 for any other text."""
    given = request.query_params.get("cursor")
    if not given:
        return None
    try:
        value = json.loads(base64.urlsafe_b64decode(given.encode("ascii", "strict") + b"=="))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        value = None
    is_right = type(value) is kind and (storable(value) == value if isinstance(value, str) else abs(value) < 2**62)
    if not is_right:
        raise Problem("invalid_request", "The cursor is not one that a 'next' of this list gave.")
    return value


def page(request: Request, rows: list[Any], position: Any) -> tuple[list[Any], str | None]:
    """The page's rows and its next url, from PAGE_SIZE + 1 rows; `position` names a row's own."""
    if len(rows) <= PAGE_SIZE:
        return rows, None
    cursor = base64.urlsafe_b64encode(json.dumps(position(rows[PAGE_SIZE - 1])).encode()).decode().rstrip("=")
    query = {key: value for key, value in request.query_params.items() if key != "cursor"}
    return rows[:PAGE_SIZE], f"{request.path}?{urlencode({**query, 'cursor': cursor})}"
