"""How much of the provider's quota is free: read-only views for the worker's gate, the queue page and batches.

The bucket mirrors the provider's own: it refills continuously and holds one minute's limit. It is reserved and
given back in `sql/begin.sql` and `sql/settle.sql`; nothing here changes it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from django.conf import settings

from ingestion.provider import breaker, statements
from ingestion.provider.breaker import Breaker
from ingestion.provider.errors import WaitReason
from ingestion.provider.ledger import configured_limit
from ingestion.provider.verdicts import Lane

# What the embedding model takes in one input, and the provider in one request.
MOST_INPUT_TOKENS = 8_192
MOST_REQUEST_TOKENS = 300_000
# A batch takes at most this part of what bulk may use of a minute: smaller ones leave the bucket sooner to others.
BATCH_PART = 0.5


@dataclass(frozen=True)
class LaneRoom:
    """What bulk work may take of a lane now, in requests (chat) or tokens (embeddings).

    `next_at`: when bulk may take `smallest` again, now if it may already. `is_probe`: the lane or the breaker
    waits for one probe, so at most one call should start, whatever `room` says.
    """

    lane: Lane
    room: float
    next_at: datetime
    limit_per_minute: int
    used: int
    question_share: float
    blocked_reason: WaitReason | None
    is_probe: bool


@dataclass(frozen=True)
class Gate:
    """Breaker and both lanes at `now`. `is_probe`: at most one call over both lanes may start."""

    now: datetime
    breaker: Breaker
    chat: LaneRoom
    embeddings: LaneRoom

    @property
    def is_probe(self) -> bool:
        return self.breaker.is_probe

    def lane(self, name: Lane) -> LaneRoom:
        return self.chat if name == "chat" else self.embeddings


class LaneSnapshot(TypedDict):
    limit: int
    used: int
    question_share: float


class ProviderSnapshot(TypedDict):
    """`provider` in GET /v1/queue."""

    state: Literal["ok", "open", "half_open", "paused"]
    reason: str | None
    chat: LaneSnapshot
    embeddings: LaneSnapshot


def gate(smallest_chat: float = 1, smallest_embeddings: float = 1) -> Gate:
    """The room of both lanes and the breaker, in one query."""
    chat, embeddings = _standing()
    guard = breaker.standing(chat)
    return Gate(chat["now"], guard, _room(chat, guard, smallest_chat), _room(embeddings, guard, smallest_embeddings))


def available(lane: Lane, smallest: float = 1) -> LaneRoom:
    """The room of one lane, in one query."""
    return gate(smallest, smallest).lane(lane)


def snapshot() -> ProviderSnapshot:
    """The provider's state and both quotas, in one query."""
    lanes = _standing()
    chat, embeddings = lanes
    guard = breaker.standing(chat)
    paused = [f"{row['name']}: {row['pause_reason']}" for row in lanes if row["paused_until"]]
    return {
        "state": guard.state if guard.state != "closed" else ("paused" if paused else "ok"),
        "reason": (guard.reason if guard.state != "closed" else " ".join(paused)) or None,
        "chat": _lane_snapshot(chat),
        "embeddings": _lane_snapshot(embeddings),
    }


def largest_batch_tokens() -> int:
    """How many tokens one embeddings request may hold under the limit that the provider grants now."""
    capacity: float = _standing()[1]["capacity"]
    part = capacity * (1 - settings.QUESTION_SHARE) * BATCH_PART
    return int(min(MOST_REQUEST_TOKENS, max(part, min(MOST_INPUT_TOKENS, capacity))))


def _standing() -> list[dict[str, Any]]:
    return statements.rows("standing", {"chat": configured_limit("chat"), "embeddings": configured_limit("embeddings")})


def _used(row: dict[str, Any]) -> int:
    used: float = row["capacity"] - row["filled"]
    return max(0, round(used))


def _lane_snapshot(row: dict[str, Any]) -> LaneSnapshot:
    share = float(settings.QUESTION_SHARE)
    return {"limit": int(row["capacity"]), "used": _used(row), "question_share": share}


def _room(row: dict[str, Any], guard: Breaker, smallest: float) -> LaneRoom:
    now: datetime = row["now"]
    capacity, share = row["capacity"], float(settings.QUESTION_SHARE)
    free = row["filled"] - _floor(capacity, share, smallest)
    refilled_at = now + timedelta(seconds=max(0.0, smallest - free) / capacity * 60)
    lane_until = max((at for at in (row["blocked_until"], row["paused_until"]) if at and at > now), default=now)
    reason: WaitReason | None = None
    if not guard.allows:
        reason = "provider_outage"
    elif lane_until > now:
        reason = "provider_quota"
    return LaneRoom(
        lane=row["name"],
        room=0.0 if reason else max(0.0, free),
        next_at=max(refilled_at, lane_until, guard.next_at),
        limit_per_minute=int(capacity),
        used=_used(row),
        question_share=share,
        blocked_reason=reason,
        is_probe=guard.is_probe or bool(row["paused_until"]),
    )


def _floor(capacity: float, share: float, need: float) -> float:
    """What bulk must leave in the bucket, as `sql/begin.sql` has it."""
    return min(share * capacity, max(0.0, capacity - need))
