"""Reads what the provider's headers say about quota and waiting. Pure; an unreadable header counts as absent."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

# Without a readable wait a refused lane rests this long.
DEFAULT_WAIT_SECONDS = 1.0

# Limits of a provider are whole numbers below this; anything else is not a limit.
_COUNT = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Quota:
    """The lane's limit a minute and what was left of it when the provider answered; None: not said."""

    limit: int | None = None
    remaining: int | None = None


NOT_SAID = Quota()


def quota(headers: Mapping[str, str], unit: str) -> Quota:
    """The quota in `unit`: "requests" or "tokens"."""
    limit = _count(headers.get(f"x-ratelimit-limit-{unit}", ""))
    # A limit of zero would stop the lane for good; such an account answers 429 by itself.
    return Quota(limit or None, _count(headers.get(f"x-ratelimit-remaining-{unit}", "")))


def _count(found: str) -> int | None:
    return int(found) if _COUNT.fullmatch(found.strip()) else None


def wait_seconds(headers: Mapping[str, str], now: float) -> float:
    """How long the provider asks to stay away; `now` in seconds since 1970, for a wait given as a date.

    `retry-after-ms` is the finer one and goes first. `x-ratelimit-reset-*` is no wait: it names the time to a
    full bucket.
    """
    for found, unit in ((headers.get("retry-after-ms", ""), 0.001), (headers.get("retry-after", ""), 1.0)):
        seconds = _seconds(found)
        if seconds is not None:
            return seconds * unit
    return _until_date(headers.get("retry-after", ""), now)


def _seconds(found: str) -> float | None:
    try:
        value = float(found)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until_date(found: str, now: float) -> float:
    try:
        return max(0.0, parsedate_to_datetime(found).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return DEFAULT_WAIT_SECONDS
