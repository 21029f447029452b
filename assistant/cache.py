"""What is kept in Valkey: answers and the vectors of questions. It only saves time and money.

It fails open: without Valkey nothing is found, nothing is kept, and every answer is computed. What an answer
depends on stands in its key, so nothing is ever invalidated; old entries end by their age.
"""

import hashlib
import json
import logging
import time
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from assistant.citations import RULE_VERSION
from assistant.prompt import PROMPT_VERSION
from ingestion.models import embedding_version

log = logging.getLogger("assistant.cache")

KEPT_SECONDS = 86_400
# Valkey answers in a millisecond or is in trouble; a question must not wait for it.
TIMEOUT_SECONDS = 0.2
# After a failure the cache is left alone for this long, so that a hung Valkey delays one question, not each.
LEFT_ALONE_SECONDS = 5.0
COMPLAINT_SECONDS = 60.0
# Every caller with the right `ask` reads every published document.
READERS = "all"

Value = TypeVar("Value")


class _Health:
    """When the cache may be asked again, and when its failure was last logged (seconds of the monotonic clock)."""

    asked_again_at = 0.0
    complained_at = float("-inf")


def answer_key(question: str, generation: int) -> str:
    """Names everything that changes an answer; `generation` is that of the published corpus."""
    return _key(
        "answer", question, settings.CHAT_MODEL, embedding_version(), PROMPT_VERSION, RULE_VERSION, generation, READERS
    )


def find_answer(key: str) -> dict[str, Any] | None:
    """The kept answer, None when there is none that can be read."""
    found = _attempt(lambda client: client.get(key))
    if not isinstance(found, bytes):
        return None
    try:
        value = json.loads(found)
    except ValueError:
        return None
    return value if isinstance(value, dict) and {"answer", "citations"} <= value.keys() else None


def keep_answer(key: str, answer: dict[str, Any]) -> None:
    """The answer can be found for a day, if Valkey takes it."""
    _attempt(lambda client: client.set(key, json.dumps(answer), ex=KEPT_SECONDS))


def vector_of(question: str, version: str, dimension: int) -> Sequence[float] | None:
    """The kept vector of a question under an embedding version."""
    found = _attempt(lambda client: client.get(_key("vector", question, version)))
    vector = array("f")
    if not isinstance(found, bytes) or len(found) != dimension * vector.itemsize:
        return None
    vector.frombytes(found)
    return vector


def keep_vector(question: str, version: str, vector: Sequence[float]) -> None:
    """The vector can be found for a day, if Valkey takes it."""
    value = array("f", vector).tobytes()
    _attempt(lambda client: client.set(_key("vector", question, version), value, ex=KEPT_SECONDS))


def _key(kind: str, *parts: object) -> str:
    """Two databases that share a Valkey never share an entry."""
    named = json.dumps([connection.settings_dict["HOST"], connection.settings_dict["PORT"], *parts])
    return f"{key_prefix()}{kind}:{hashlib.sha256(named.encode()).hexdigest()}"


def key_prefix() -> str:
    """How each key of this database begins."""
    return f"larkfield:{connection.settings_dict['NAME']}:"


def _attempt(use: Callable[[Redis], Value]) -> Value | None:
    if time.monotonic() < _Health.asked_again_at:
        return None
    try:
        return use(_client(settings.VALKEY_URL))
    except (RedisError, OSError) as error:
        _Health.asked_again_at = time.monotonic() + LEFT_ALONE_SECONDS
        _complain(error)
        return None


def _complain(error: Exception) -> None:
    """Says it once a minute, not once a question."""
    if time.monotonic() - _Health.complained_at >= COMPLAINT_SECONDS:
        _Health.complained_at = time.monotonic()
        log.warning("the cache does not answer; answers are computed", extra={"error": type(error).__name__})


@cache
def _client(url: str) -> Redis:
    """One client a process; it tries once and keeps its connections."""
    return Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        **({} if url.startswith("unix:") else {"socket_connect_timeout": TIMEOUT_SECONDS}),
    )
