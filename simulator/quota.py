"""Continuously refilling quotas. Pure arithmetic: the clock is passed in, nothing here reads it or sleeps."""

import math
from dataclasses import dataclass
from typing import Literal

MINUTE_SECONDS = 60.0
# Refill arithmetic in floats may miss a whole unit by a hair; a client that waited as told must not be refused.
ROUNDING = 1e-6

Unit = Literal["requests", "tokens"]


@dataclass(slots=True)
class Bucket:
    """A quota that holds one minute's limit and refills evenly; `level` is what was free at `updated_at`."""

    limit: int
    level: float
    updated_at: float

    @classmethod
    def full(cls, limit: int, now: float) -> "Bucket":
        """A bucket of `limit` units a minute, all of them free."""
        return cls(limit, float(limit), now)

    def refill(self, now: float) -> None:
        """Brings the level up to `now` (seconds of any clock that only rises)."""
        elapsed = max(0.0, now - self.updated_at)
        self.level = min(float(self.limit), self.level + elapsed * self.limit / MINUTE_SECONDS)
        self.updated_at = max(now, self.updated_at)

    def wait_seconds(self, requested: int) -> float:
        """Seconds until `requested` units are free, 0 when they are: (used + requested - limit) / limit x 60."""
        missing = self.used + requested - self.limit
        return missing / self.limit * MINUTE_SECONDS if missing > ROUNDING else 0.0

    def take(self, units: int) -> None:
        """The units are used; to be called after `wait_seconds` said 0."""
        self.level = max(0.0, self.level - units)

    def resize(self, limit: int, now: float) -> None:
        """The limit is changed from now on; what was free stays free as far as the new bucket holds it."""
        self.refill(now)
        self.limit = limit
        self.level = min(self.level, float(limit))

    @property
    def used(self) -> float:
        """Units of this minute's limit that have not come back yet."""
        return self.limit - self.level

    @property
    def reset_seconds(self) -> float:
        """Seconds to a full bucket, which is not the time to wait."""
        return self.used / self.limit * MINUTE_SECONDS


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was not taken; `wait_seconds` is None when no wait can help."""

    unit: Unit
    limit: int
    used: int
    requested: int
    wait_seconds: float | None


@dataclass(slots=True)
class Lane:
    """The two quotas of one model. A request passes both or touches neither."""

    requests: Bucket
    tokens: Bucket

    def charge(self, tokens: int, now: float) -> Refusal | None:
        """One request of `tokens` is charged and None returned, or nothing is charged and the reason returned."""
        self.requests.refill(now)
        self.tokens.refill(now)
        refusal = _refusal("requests", self.requests, 1) or _refusal("tokens", self.tokens, tokens)
        if refusal is None:
            self.requests.take(1)
            self.tokens.take(tokens)
        return refusal

    def headers(self, now: float) -> dict[str, str]:
        """The `x-ratelimit-*` fields as of `now`."""
        fields: dict[str, str] = {}
        for unit, bucket in (("requests", self.requests), ("tokens", self.tokens)):
            bucket.refill(now)
            fields[f"x-ratelimit-limit-{unit}"] = str(bucket.limit)
            fields[f"x-ratelimit-remaining-{unit}"] = str(int(bucket.level + ROUNDING))
            fields[f"x-ratelimit-reset-{unit}"] = duration_text(bucket.reset_seconds)
        return fields


def _refusal(unit: Unit, bucket: Bucket, requested: int) -> Refusal | None:
    used = math.ceil(bucket.used - ROUNDING)
    if requested > bucket.limit:
        return Refusal(unit, bucket.limit, used, requested, None)
    wait = bucket.wait_seconds(requested)
    return Refusal(unit, bucket.limit, used, requested, wait) if wait > 0 else None


def duration_text(seconds: float) -> str:
    """The duration as the real API writes it: `120ms`, `1.2s`, `6m0s`; rounded up to a millisecond."""
    milliseconds = math.ceil(seconds * 1000 - ROUNDING)
    if milliseconds < 1000:
        return f"{max(0, milliseconds)}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    tail = f"{rest / 1000:.3f}".rstrip("0").rstrip(".") + "s"
    return f"{minutes}m{tail}" if minutes else tail
