"""Rolling limits for each caller: `limits` over Valkey; without Valkey a window in this process.

A limit of N a minute lets N at once through; the next within 60 s is refused. A token that was taken for a request
which is then refused for another reason is given back.
"""

import logging
import math
import time
from functools import cache
from typing import Any, Literal

from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter
from redis.exceptions import RedisError

from ingestion.models import Caller
from ingestion.problems import Problem

log = logging.getLogger("ingestion.limits")

Subject = Literal["uploads", "questions", "events"]
WINDOW_SECONDS = 60
VALKEY_TIMEOUT_SECONDS = 0.5


@cache
def _shared() -> MovingWindowRateLimiter:
    storage = RedisStorage(
        _storage_url(settings.VALKEY_URL),
        socket_timeout=VALKEY_TIMEOUT_SECONDS,
        socket_connect_timeout=VALKEY_TIMEOUT_SECONDS,
    )
    return MovingWindowRateLimiter(storage)


@cache
def _own() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(MemoryStorage())


def _storage_url(url: str) -> str:
    """redis-py says unix://, the limits library redis+unix://."""
    return f"redis+{url}" if url.startswith("unix:") else url


def limit_of(caller: Caller, subject: Subject) -> int:
    """Tokens a minute of this caller."""
    if subject == "uploads" and caller.uploads_per_minute:
        return caller.uploads_per_minute
    return int(getattr(settings, f"{subject.upper()}_PER_MINUTE"))


def _ask(verb: str, *arguments: Any, **options: Any) -> Any:
    """One question to the shared window, or to this process's own when Valkey does not answer."""
    try:
        return getattr(_shared(), verb)(*arguments, **options)
    except (RedisError, OSError) as error:
        log.warning("Valkey does not answer; limits hold for this process only", extra={"error": type(error).__name__})
        return getattr(_own(), verb)(*arguments, **options)


def take(caller: Caller, subject: Subject, tokens: int = 1) -> None:
    """The tokens are taken. Raises Problem 429 `rate_limited` with Retry-After and the RateLimit fields."""
    if take_up_to(caller, subject, tokens, whole=True) < tokens:
        raise refusal(caller, subject)


def take_up_to(caller: Caller, subject: Subject, tokens: int, *, whole: bool = False) -> int:
    """Takes as many of the tokens as there are (with `whole`: all or none) and returns their number."""
    item = RateLimitItemPerMinute(limit_of(caller, subject))
    while tokens > 0:
        if tokens <= item.amount and _ask("hit", item, subject, str(caller.pk), cost=tokens):
            return tokens
        if whole:
            return 0
        remaining = _ask("get_window_stats", item, subject, str(caller.pk)).remaining
        # Others take tokens between the two questions: each round asks for fewer.
        tokens = min(tokens - 1, remaining)
    return 0


def give_back(caller: Caller, subject: Subject, tokens: int = 1) -> None:
    """The newest tokens of the window are free again: the request that took them was refused for another reason.

    The window is a list of moments, newest first; dropping one drops a moment, and moments differ by milliseconds.
    """
    key = RateLimitItemPerMinute(limit_of(caller, subject)).key_for(subject, str(caller.pk))
    storage = _shared().storage
    assert isinstance(storage, RedisStorage)
    try:
        storage.storage.lpop(storage.prefixed_key(key), tokens)
    except (RedisError, OSError):
        own = _own().storage
        assert isinstance(own, MemoryStorage)
        del own.events.get(key, [])[:tokens]


def refusal(caller: Caller, subject: Subject) -> Problem:
    """The 429 for a caller that is over this limit, honest about when the next token is free."""
    limit = limit_of(caller, subject)
    stats = _ask("get_window_stats", RateLimitItemPerMinute(limit), subject, str(caller.pk))
    wait = max(1, math.ceil(stats.reset_time - time.time()))
    return Problem(
        "rate_limited",
        f"This caller may send {limit} {subject} a minute; the next one is free in {wait} s.",
        {
            "Retry-After": str(wait),
            "RateLimit-Policy": f'"{subject}";q={limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"{subject}";r={max(0, stats.remaining)};t={wait}',
        },
    )
