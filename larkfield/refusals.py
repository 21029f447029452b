"""Refused requests by problem code, counted in Valkey over all processes.

A refusal is the cheap path: it only counts in memory, and a timer of this process brings the numbers to Valkey a second
later. Valkey may be lost; then the counters begin anew, as a Prometheus counter may.
"""

import logging
import threading
from collections import Counter

from redis.exceptions import RedisError

from ingestion.promises import valkey

log = logging.getLogger("larkfield.refusals")

KEY = "larkfield:refusals"
DELAY_SECONDS = 1.0

_lock = threading.Lock()
_waiting: Counter[str] = Counter()
_timer: threading.Timer | None = None


def count(code: str) -> None:
    """The refusal is counted, in Valkey within about a second."""
    global _timer
    with _lock:
        _waiting[code] += 1
        if _timer is None:
            _timer = threading.Timer(DELAY_SECONDS, flush)
            _timer.daemon = True
            _timer.start()


def flush() -> None:
    """What waits in this process is in Valkey; where that does not answer it waits on, for the next refusal's timer."""
    global _timer
    with _lock:
        numbers = dict(_waiting)
        _waiting.clear()
        _timer = None
    if not numbers:
        return
    try:
        with valkey().pipeline() as pipe:
            for code, number in numbers.items():
                pipe.hincrby(KEY, code, number)
            pipe.execute()
    except (RedisError, OSError) as error:
        log.warning("refusals are not counted yet", extra={"error": type(error).__name__})
        with _lock:
            _waiting.update(numbers)


def read() -> dict[str, float]:
    """The numbers by code, this process's own included; empty where Valkey does not answer."""
    flush()
    try:
        found: dict[bytes, bytes] = valkey().hgetall(KEY)
    except (RedisError, OSError):
        return {}
    return {code.decode(): float(number) for code, number in found.items()}
