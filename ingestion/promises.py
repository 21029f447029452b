"""Promised places: each refused caller is given a moment of its own to come back, a place's time after the last.

Kept in Valkey for all processes, in this process while Valkey does not answer. Nothing of a refused request is kept:
only how far the promises reach.
"""

import logging
import threading
import time
from dataclasses import dataclass
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

# Refusals that come so close together take several places in one question, twice as many as the last time up to a
# most: in a flood of refusals the question is what a refusal costs. Places that are not handed out in time are lost,
# and those who come later wait so much longer.
TOGETHER_SECONDS = 0.05
TOGETHER_MOST = 16


@dataclass
class _Hand:
    """Places that this process has taken and not handed out yet: `left` of `size`, the last at `until`."""

    taken_at: float
    size: int
    left: int
    place_seconds: float
    until: float

    def next(self) -> float:
        """The next one's moment."""
        self.left -= 1
        return self.until - self.left * self.place_seconds


_hands: dict[str, _Hand] = {}
_own: dict[str, float] = {}
_own_lock = threading.Lock()


@cache
def valkey() -> Any:
    """The client of this process; its calls end within half a second."""
    return redis.Redis.from_url(settings.VALKEY_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


@cache
def _script() -> Any:
    return valkey().register_script(NEXT_PLACE)


def forget(queue: str) -> None:
    """No place is promised."""
    with _own_lock:
        _hands.pop(queue, None)
        _own.pop(queue, None)
    valkey().delete(f"promised:{queue}")


def next_place(queue: str, place_seconds: float, most_seconds: float) -> float:
    """Seconds until the next place that nobody was promised yet, at most `most_seconds`."""
    now = time.time()
    with _own_lock:
        hand = _hands.get(queue)
        is_fresh = hand is not None and now - hand.taken_at < TOGETHER_SECONDS
        if hand is not None and is_fresh and hand.left:
            return max(0.0, hand.next() - now)
        size = min(TOGETHER_MOST, 2 * hand.size) if hand is not None and is_fresh else 1
    until = now + _take(queue, now, place_seconds * size, most_seconds)
    with _own_lock:
        _hands[queue] = hand = _Hand(now, size, size, place_seconds, until)
        return max(0.0, hand.next() - now)


def _take(queue: str, now: float, place_seconds: float, most_seconds: float) -> float:
    """Seconds until the end of the time that is now promised for these places, at most `most_seconds`."""
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
