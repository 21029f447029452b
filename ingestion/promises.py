"""Promised places: each refused caller is given a moment of its own to come back, a place's time after the last.

Kept in Valkey for all processes, in this process while Valkey does not answer. Nothing of a refused request is kept:
only how far the promises reach.
"""

import logging
import threading
import time
from functools import cache
from typing import Any

import redis
from django.conf import settings

log = logging.getLogger("ingestion.promises")

# KEYS[1]: until when places are promised. ARGV: now, seconds of a place, the longest promise. All in seconds.
NEXT_PLACE = """
local now, place, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local until_ = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + place
if until_ > now + most then until_ = now + most end
redis.call('SET', KEYS[1], tostring(until_), 'PX', math.ceil((until_ - now) * 1000) + 1000)
return tostring(until_ - now)
"""

_own: dict[str, float] = {}
_own_lock = threading.Lock()


@cache
def valkey() -> Any:
    """The client of this process; its calls end within half a second."""
    return redis.Redis.from_url(settings.VALKEY_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


@cache
def _script() -> Any:
    return valkey().register_script(NEXT_PLACE)


def next_place(queue: str, place_seconds: float, most_seconds: float) -> float:
    """Seconds until the next place that nobody was promised yet, at most `most_seconds`."""
    now = time.time()
    try:
        return float(_script()(keys=[f"promised:{queue}"], args=[now, place_seconds, most_seconds]))
    except (redis.RedisError, OSError) as error:
        log.warning(
            "Valkey does not answer; places are promised by this process", extra={"error": type(error).__name__}
        )
    with _own_lock:
        until = min(max(_own.get(queue, 0.0), now) + place_seconds, now + most_seconds)
        _own[queue] = until
    return until - now
