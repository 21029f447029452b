"""What may be claimed now: the provider's open lanes, and the pace of event completions.

The limits come before the claim, so that a job which can't be served is not claimed, waits without a write and holds
no slot.
"""

import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection

from ingestion.models import ProviderLane, ProviderState
from ingestion.pipeline.embedding import smallest_batch_tokens
from ingestion.provider import pacing
from ingestion.provider.pacing import Gate, LaneRoom

# The bucket holds a quarter of a second (at least one), so that an idle time gives no burst to the downstream.
TAKE_COMPLETIONS = """
INSERT INTO ingestion_completionpace AS pace (queue, level, level_at)
VALUES ('events', 0, statement_timestamp())
ON CONFLICT (queue) DO UPDATE
SET level = least(%(most)s,
              pace.level + %(rate)s * greatest(0, extract(epoch FROM statement_timestamp() - pace.level_at)))
        - floor(least(%(wanted)s, %(most)s,
              pace.level + %(rate)s * greatest(0, extract(epoch FROM statement_timestamp() - pace.level_at)))),
    level_at = greatest(pace.level_at, statement_timestamp())
RETURNING coalesce(floor(least(%(wanted)s, %(most)s,
    old.level + %(rate)s * extract(epoch FROM new.level_at - old.level_at))), 0)::int, new.level
"""
RETURN_COMPLETIONS = """
UPDATE ingestion_completionpace SET level = least(%(most)s, level + %(unused)s) WHERE queue = 'events'
"""


@dataclass(frozen=True)
class Plan:
    """(lane, most jobs to claim for it), lanes whose jobs are further on first; when to look again (monotonic).

    `most` over all lanes: a probe is one job, of whichever lane has one ready.
    """

    rooms: list[tuple[str, int]]
    most: int
    next_at: float


def plan(free: int, unserved: Counter[str]) -> Plan:
    """What documents may be claimed with `free` slots under the provider's present room. One query.

    `unserved`: by lane, jobs that were claimed here and have not reserved anything yet; the room is theirs first.
    """
    smallest = {"embeddings": smallest_batch_tokens(), "chat": 1.0}
    gate = pacing.gate(smallest_embeddings=smallest["embeddings"])
    lanes = (gate.embeddings, gate.chat)
    rooms = [(lane.lane, _jobs(lane, smallest[lane.lane]) - unserved[lane.lane]) for lane in lanes]
    most = free
    if gate.is_probe:
        # Both lanes stay in the plan: the first may have no job that is ready.
        most = min(free, 0 if unserved.total() else 1)
    return Plan([(name, min(jobs, most)) for name, jobs in rooms if jobs > 0 and most], most, _next_at(gate))


def _jobs(lane: LaneRoom, smallest: float) -> int:
    if lane.blocked_reason is not None:
        return 0
    return 1 if lane.is_probe else int(lane.room / smallest)


def _next_at(gate: Gate) -> float:
    """The monotonic moment at which the first closed lane opens; 0 where none is closed."""
    closed = [lane.next_at for lane in (gate.chat, gate.embeddings) if lane.next_at > gate.now]
    return time.monotonic() + (min(closed) - gate.now).total_seconds() if closed else 0.0


def blocked_since() -> datetime | None:
    """Since when the provider takes no call at all; None while it takes some."""
    state = ProviderState.objects.filter(id=1).first()
    if state and state.state != "closed":
        return state.open_since
    paused = [lane.paused_since for lane in ProviderLane.objects.all() if lane.paused_since]
    return max(paused) if len(paused) == 2 else None


def _completions_most() -> float:
    return float(max(1.0, settings.EVENT_COMPLETIONS_PER_SECOND / 4))


def completions(wanted: int) -> tuple[int, float]:
    """(events that may be applied now, when to look again); takes them from the pace that all workers share."""
    rate = settings.EVENT_COMPLETIONS_PER_SECOND
    if not rate:
        return wanted, 0.0
    with connection.cursor() as cursor:
        cursor.execute(TAKE_COMPLETIONS, {"rate": rate, "most": _completions_most(), "wanted": wanted})
        granted, level = cursor.fetchone()
    return int(granted), time.monotonic() + max(0.0, 1 - float(level)) / rate


def return_completions(unused: int) -> None:
    """Completions that were taken and not used, because too few events were ready."""
    if unused > 0 and settings.EVENT_COMPLETIONS_PER_SECOND:
        with connection.cursor() as cursor:
            cursor.execute(RETURN_COMPLETIONS, {"most": _completions_most(), "unused": unused})
