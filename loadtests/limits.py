"""Each limit in jobs a minute from measured numbers, the first one, and where another comes first (pure)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Limit:
    """One limit: jobs a minute and the arithmetic, with every number visible."""

    name: str
    jobs_per_minute: float
    arithmetic: str


@dataclass(frozen=True)
class Job:
    """What one job needs: chat calls, embedding tokens, and seconds in a worker's slot."""

    what: str
    chat_calls: float
    embedding_tokens: float
    seconds: float


@dataclass(frozen=True)
class Place:
    """What the account and the installation give."""

    chat_per_minute: int
    tokens_per_minute: int
    workers: int
    slots_a_worker: int

    @property
    def slots(self) -> int:
        return self.workers * self.slots_a_worker


def of(job: Job, place: Place) -> list[Limit]:
    """The three limits of a kind of job, the first one first."""
    found = [
        Limit(
            "chat quota", place.chat_per_minute / job.chat_calls,
            f"{place.chat_per_minute:,} requests a minute ÷ {job.chat_calls:g} a job",
        ),
        Limit(
            "embedding quota", place.tokens_per_minute / max(job.embedding_tokens, 1.0),
            f"{place.tokens_per_minute:,} tokens a minute ÷ {job.embedding_tokens:,.0f} a job",
        ),
        Limit(
            "workers", 60 * place.slots / job.seconds,
            f"{place.workers} worker × {place.slots_a_worker} jobs at a time ÷ {job.seconds:.2f} s a job × 60",
        ),
    ]  # fmt: skip
    return sorted(found, key=lambda limit: limit.jobs_per_minute)


def turning_points(job: Job, place: Place) -> dict[str, float]:
    """Where another limit than the chat quota comes first, each with everything else as it is."""
    chat = place.chat_per_minute / job.chat_calls
    return {
        "tokens_a_job": place.tokens_per_minute / chat,
        "seconds_a_job": 60 * place.slots / chat,
        "slots": chat * job.seconds / 60,
    }


def workers_needed(first: Limit, job: Job, place: Place) -> int:
    """Workers whose slots carry the first limit of the provider; more bring nothing while it holds."""
    needed = first.jobs_per_minute * job.seconds / 60 / place.slots_a_worker
    return max(1, -int(-needed // 1))


def bound(first: Limit, promised_seconds: float) -> dict[str, Any]:
    """The largest queue whose last job still starts within the promise, at the pace of the first limit."""
    return {
        "jobs": int(promised_seconds * first.jobs_per_minute / 60),
        "arithmetic": f"{promised_seconds:g} s × {first.jobs_per_minute:.1f} jobs a minute ÷ 60",
        "limit": first.name,
    }


def as_json(limits: Sequence[Limit]) -> list[dict[str, Any]]:
    return [asdict(limit) for limit in limits]
