"""Small HTTP calls of the supervisor, with the standard library so that it starts fast."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# Everything called here is on this machine or is the address a person has given: no proxy in between.
_open = build_opener(ProxyHandler({})).open


def call(
    url: str, *, token: str = "", body: dict[str, Any] | None = None, timeout_seconds: float = 5.0
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (names in lower case) and body of a GET, or of a POST of JSON when a body is given.

    Raises OSError when there is no answer.
    """
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    payload = None
    if body is not None:
        payload = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    request = Request(url, data=payload, headers=headers)  # noqa: S310 - http and https only: see `addresses`
    try:
        with _open(request, timeout=timeout_seconds) as response:
            return response.status, _lower(response.headers.items()), response.read()
    except HTTPError as refusal:
        return refusal.code, _lower(refusal.headers.items()), refusal.read()


def _lower(headers: list[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
