"""From pace to promise: how long an accepted job will take, and when a refused one should come back (pure).

The pace is measured where enough finished under pressure; before that it is assumed from the first limit, less what
the provider's buckets hold at this moment. Both say which they are.
"""

import random
from dataclasses import dataclass

from django.conf import settings

from ingestion.pace import Pace

# One job alone: a chat answer and its embeddings, from the simulated provider's own times.
SERVICE_SECONDS = 3.0
# The low and the high of an estimate as parts of it: what runs beside it, and how unlike its documents may be.
LOW, HIGH = 0.5, 1.6
# An assumed pace knows less.
ASSUMED_LOW, ASSUMED_HIGH = 0.3, 2.5
# Events a minute that a worker is assumed to apply until a pace is measured.
ASSUMED_EVENTS_PER_MINUTE = 6_000.0
# Tokens of a policy of ordinary length: turns a token limit into jobs where no job is at hand.
TYPICAL_UNITS = 2_500.0
# From this part of what the limit allows on, the units were what held the jobs up.
UNITS_BOUND = 0.8
# A document's work units count its text twice, for its embeddings and for its summary; the rest is small.
EMBEDDED_PART = 0.5
# Places free up irregularly; a refused caller comes a little later than the pace says.
RETRY_MARGIN = 1.25
JITTER = 0.1


@dataclass(frozen=True)
class Estimate:
    """Seconds until the job is finished, between `low_seconds` and `high_seconds`."""

    wait_seconds: float
    low_seconds: float
    high_seconds: float
    basis: str
    jobs_ahead: int

    def answer(self) -> dict[str, float | str]:
        return {
            "wait_seconds": round(self.wait_seconds),
            "low_seconds": int(self.low_seconds),
            "high_seconds": -int(-self.high_seconds // 1),
            "basis": self.basis,
        }


NOTHING_LEFT = Estimate(0.0, 0.0, 0.0, "measured", 0)


def assumed_rates(queue: str) -> tuple[float, float]:
    """(jobs a minute, units a minute) that the configured limits allow."""
    if queue == "events":
        rate = 60 * settings.EVENT_COMPLETIONS_PER_SECOND or ASSUMED_EVENTS_PER_MINUTE
        return rate, rate
    return float(settings.CHAT_REQUESTS_PER_MINUTE), float(settings.EMBEDDING_TOKENS_PER_MINUTE)


@dataclass(frozen=True)
class Limits:
    """What the provider (or a paced downstream) allows: each minute, and at once from buckets that are filled now."""

    jobs_per_minute: float
    units_per_minute: float
    jobs_room: float = 0.0
    units_room: float = 0.0

    def least_seconds(self, jobs: float, units: float) -> float:
        """No pace can finish `jobs` and `units` sooner."""
        by_jobs = 60 * max(0.0, jobs - self.jobs_room) / self.jobs_per_minute
        return max(by_jobs, 60 * max(0.0, units - self.units_room) / self.units_per_minute)


def estimate(queue: str, pace: Pace, limits: Limits, *, jobs_ahead: int, units_ahead: float, units: float) -> Estimate:
    """When a job of `units` behind `jobs_ahead` and `units_ahead` will have finished."""
    alone = SERVICE_SECONDS if queue == "documents" else 1.0
    if pace.is_measured:
        wait = max(
            _measured_seconds(pace, limits, jobs_ahead + 1, units_ahead + units), min(pace.sojourn_seconds, alone)
        )
        return Estimate(wait, LOW * wait, HIGH * wait + alone, "measured", jobs_ahead)
    wait = alone + limits.least_seconds(jobs_ahead + 1, (units_ahead + units) * EMBEDDED_PART)
    return Estimate(wait, ASSUMED_LOW * wait, ASSUMED_HIGH * wait + alone, "assumed", jobs_ahead)


def _measured_seconds(pace: Pace, limits: Limits, jobs: int, units: float) -> float:
    """How long `jobs` with `units` take at the measured pace and under the limits.

    A pace that was measured while the buckets were full does not last: the calls that the jobs need are the floor.
    (Their tokens are not: what is unchanged is taken over without a call.) Units that finished slower than their limit
    were not what held the jobs up, so that a large document behind small ones is judged by the limit; and where units
    did hold them up, the number of jobs says nothing.
    """
    units_possible = limits.units_per_minute / EMBEDDED_PART
    by_units = 60 * units / max(pace.units_per_minute, units_possible)
    is_held_up_by_units = pace.units_per_minute >= UNITS_BOUND * units_possible
    by_jobs = 0.0 if is_held_up_by_units else 60 * jobs / pace.jobs_per_minute
    return max(by_units, by_jobs, limits.least_seconds(jobs, 0.0))


def place_seconds(queue: str, pace: Pace, limits: Limits | None = None, waiting: int = 0) -> float:
    """Seconds in which one place of the bound becomes free.

    With `limits` and the number of jobs that are `waiting`: never less than the limit allows once those have taken
    what its bucket holds; a pace that was measured while the bucket was full does not last.
    """
    if pace.is_measured or (pace.jobs and pace.jobs_per_minute > 0 and pace.pressure >= 1):
        least = 60 / limits.jobs_per_minute if limits and limits.jobs_room < waiting else 0.0
        return max(60 / pace.jobs_per_minute, least)
    jobs_rate, units_rate = assumed_rates(queue)
    per_job = TYPICAL_UNITS * EMBEDDED_PART if queue == "documents" else 1.0
    return 60 / min(jobs_rate, units_rate / per_job)


def with_jitter(seconds: float, pick: float | None = None) -> float:
    """A little later, so that callers who were refused together don't come back together."""
    return seconds * (1 + JITTER * (random.random() if pick is None else pick))
