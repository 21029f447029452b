"""The only HTTP to the provider: one client a process, no retries, one deadline over the whole exchange.

Nothing here judges an answer. The API key stands in one header and nowhere else.
"""

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from django.conf import settings

from ingestion import traces

CONNECT_SECONDS = 5.0
REACHABLE_SECONDS = 5.0
# A batch of 2048 vectors of 3072 dimensions in base64 is 34 MiB.
MOST_BYTES = 64 * 1024 * 1024
# Above the most threads that a worker may have (WORKER_CONCURRENCY), so that no call waits for a connection.
MOST_CONNECTIONS = 300
# Below the five seconds after which common servers close an idle connection: none is reused while it closes.
KEEP_ALIVE_SECONDS = 4.0

_lock = threading.Lock()
_clients: dict[int, httpx.Client] = {}


class Unanswered(Exception):
    """No whole answer came. `was_sent` is False when the provider cannot have seen the request."""

    def __init__(self, kind: Literal["timeout", "disconnected"], detail: str, *, was_sent: bool = True) -> None:
        super().__init__(detail)
        self.kind: Literal["timeout", "disconnected"] = kind
        self.detail = detail
        self.was_sent = was_sent


class TooLong(Exception):
    """The answer is longer than MOST_BYTES."""


@dataclass
class Answer:
    """An answer whose body is still to be read, before the deadline."""

    status: int
    headers: Mapping[str, str]
    _response: httpx.Response = field(repr=False)
    _deadline: float

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes; Unanswered when the deadline passes or the connection is cut."""
        length = 0
        with _translated():
            for chunk in self._response.iter_bytes():
                length += len(chunk)
                if length > MOST_BYTES:
                    raise TooLong
                if time.monotonic() > self._deadline:
                    raise Unanswered("timeout", "the answer did not end in time")
                yield chunk

    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.chunks())


@contextmanager
def exchange(path: str, request: dict[str, Any], client_request_id: str) -> Iterator[Answer]:
    """Posts `request` to `path` and gives the answer once its headers are there; Unanswered without one."""
    limit = settings.PROVIDER_TIMEOUT_SECONDS
    deadline = time.monotonic() + limit
    timeout = httpx.Timeout(limit, connect=min(CONNECT_SECONDS, limit))
    with (
        traces.span("call", f"provider {path}", call=client_request_id),
        _translated(),
        _client().stream(
            "POST",
            f"{settings.PROVIDER_BASE_URL}/{path}",
            content=json.dumps(request).encode("ascii"),
            headers=_headers() | {"X-Client-Request-Id": client_request_id},
            timeout=timeout,
        ) as response,
    ):
        _shrink_read_timeout(response.request, deadline)
        yield Answer(response.status_code, response.headers, response, deadline)


def _shrink_read_timeout(request: httpx.Request, deadline: float) -> None:
    """What the headers took is gone: each read of the body may wait only for the rest.

    Inexact on purpose: a body that drips until the deadline and then stalls ends up to that rest later.
    """
    timeouts = request.extensions.get("timeout")
    if isinstance(timeouts, dict):
        timeouts["read"] = max(0.001, deadline - time.monotonic())


def _headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {settings.PROVIDER_API_KEY}", "Content-Type": "application/json"}


def _client() -> httpx.Client:
    """This process's client. A forked child makes its own: two processes must not share a connection."""
    with _lock:
        client = _clients.get(os.getpid())
        if client is None:
            limits = httpx.Limits(
                max_connections=MOST_CONNECTIONS,
                max_keepalive_connections=MOST_CONNECTIONS,
                keepalive_expiry=KEEP_ALIVE_SECONDS,
            )
            client = _clients[os.getpid()] = httpx.Client(limits=limits, trust_env=False)
        return client


@contextmanager
def _translated() -> Iterator[None]:
    """Words the client library's errors as Unanswered; their own texts may hold the key of a bad header."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise Unanswered("disconnected", f"no connection: {type(error).__name__}", was_sent=False) from None
    except httpx.PoolTimeout:
        raise Unanswered("timeout", "no free connection", was_sent=False) from None
    except httpx.TimeoutException as error:
        raise Unanswered("timeout", f"no answer in time: {type(error).__name__}") from None
    except httpx.HTTPError as error:
        raise Unanswered("disconnected", f"the connection was cut: {type(error).__name__}") from None


def check_reachable() -> str | None:
    """None when the provider answers anything over HTTP within five seconds, else one line that says why not."""
    address = f"{settings.PROVIDER_BASE_URL}/models"
    try:
        httpx.get(address, headers=_headers(), timeout=REACHABLE_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return f"The provider does not answer at {address} ({type(error).__name__}): check PROVIDER_BASE_URL."
    return None
