"""What an answer, or its absence, means: the call's outcome, what was charged, how long to stay away. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from ingestion.provider import headers
from ingestion.provider.shapes import NO_USAGE, Malformed, Usage, usage_of

T = TypeVar("T")

Lane = Literal["chat", "embeddings"]
Outcome = Literal[
    "ok",
    "rate_limited",
    "insufficient_quota",
    "unauthorized",
    "refused",
    "server_error",
    "timeout",
    "disconnected",
    "malformed",
    # The reader of a stream went away; what it was charged is unknown.
    "abandoned",
]

# The outcomes that say the provider is in trouble: only these move the breaker.
BREAKING: frozenset[Outcome] = frozenset({"server_error", "timeout", "disconnected"})
# A longer wait is no rate limit but a matter for a person: the lane pauses with the reason in sight.
LONGEST_WAIT_SECONDS = 3600.0
# 4xx that a later try of the same request may pass.
PASSING_STATUSES = frozenset({408, 409, 425})
LANE_UNITS: dict[Lane, str] = {"chat": "requests", "embeddings": "tokens"}
DETAIL_LENGTH = 300


@dataclass(frozen=True)
class Ending:
    """How a call ended. `charged`: units of its lane; None when unknown, then the reservation is kept."""

    outcome: Outcome
    detail: str = ""
    status: int | None = None
    usage: Usage = NO_USAGE
    charged: int | None = 0
    quota: headers.Quota = headers.NOT_SAID
    block_seconds: float | None = None
    pause_reason: str = ""
    latency_seconds: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether the breaker counts it."""
        return self.outcome in BREAKING

    @property
    def code(self) -> str:
        """The stable word of a failed try."""
        return f"provider_{self.status if self.outcome == 'server_error' else self.outcome}"


@dataclass(frozen=True)
class Received:
    """A whole answer, and what of it the verdict needs of the request."""

    lane: Lane
    need: int
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Read(Generic[T]):
    """What the body says, and what it cost."""

    shape: T
    usage: Usage


@dataclass(frozen=True)
class Verdict(Generic[T]):
    """How a call ended, and, only when that is well, what it brought."""

    ending: Ending
    shape: T | None = None


def unanswered(kind: Literal["timeout", "disconnected"], detail: str, *, was_sent: bool) -> Ending:
    """The ending without an answer: once sent, a call may have been charged."""
    return Ending(kind, detail, charged=None if was_sent else 0)


def judge(received: Received, read: Callable[[dict[str, Any]], Read[T]], now: float) -> Verdict[T]:
    """The shape of a good answer and its ending, or the ending alone, which says what is wrong.

    `now` in seconds since 1970. A status of 200 proves nothing: an error inside is judged by its code.
    """
    body = _object(received.body)
    error = body.get("error") if body else None
    quota = headers.quota(received.headers, LANE_UNITS[received.lane])
    if received.status != 200 or error:
        ending = _refusal(received, error if isinstance(error, dict) else {}, quota, now)
        return Verdict(replace(ending, status=received.status, quota=quota))
    try:
        if body is None:
            raise Malformed("the answer is no JSON object")
        found = read(body)
    except Malformed as flaw:
        return Verdict(replace(malformed(received.lane, flaw), status=received.status, quota=quota))
    return Verdict(good(received.lane, found.usage, received.status, received.headers), found.shape)


def good(lane: Lane, usage: Usage, status: int, found_headers: Mapping[str, str]) -> Ending:
    """The ending of a call that did what it was for."""
    quota = headers.quota(found_headers, LANE_UNITS[lane])
    return Ending("ok", status=status, usage=usage, charged=_charged(lane, usage), quota=quota)


def malformed(lane: Lane, flaw: Malformed) -> Ending:
    """An answer that cannot be used is paid for all the same."""
    charged = _charged(lane, flaw.usage) if flaw.usage else None
    return Ending("malformed", clean(flaw.detail), usage=flaw.usage or NO_USAGE, charged=charged)


def _charged(lane: Lane, usage: Usage) -> int:
    return 1 if lane == "chat" else usage.total


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refusal(received: Received, error: dict[str, Any], quota: headers.Quota, now: float) -> Ending:
    status, code = received.status, error.get("code")
    if "insufficient_quota" in (code, error.get("type")):
        return Ending("insufficient_quota", pause_reason="The provider's account has no quota left.")
    if status in (401, 403) or code == "invalid_api_key":
        # The provider's own words may quote the key.
        return Ending("unauthorized", pause_reason="The provider does not accept the API key.")
    detail = clean(f"status {status}: {error.get('message') or 'no reason given'}")
    if status == 429 or code == "rate_limit_exceeded":
        return _rate_limited(received, quota, detail, now)
    if status == 200 or status < 400:
        return malformed(received.lane, Malformed(detail, usage_of(_object(received.body) or {})))
    return Ending("server_error" if status >= 500 or status in PASSING_STATUSES else "refused", detail)


def _rate_limited(received: Received, quota: headers.Quota, detail: str, now: float) -> Ending:
    # A request above a limit that was cut may pass once smaller or later; above any other limit it never does.
    is_cut = quota.limit is not None and quota.limit < received.need
    if "request too large" in detail.lower() and not is_cut:
        return Ending("refused", detail)
    wait = headers.wait_seconds(received.headers, now)
    if wait > LONGEST_WAIT_SECONDS:
        reason = f"The provider asks to stay away for {wait:.0f} seconds."
        return Ending("rate_limited", detail, pause_reason=reason)
    return Ending("rate_limited", detail, block_seconds=wait)


def clean(text: str) -> str:
    """A text that the database takes and a page can show: no NUL, no lone surrogate, not endless."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")[:DETAIL_LENGTH]
