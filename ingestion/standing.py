"""Where a queue stands: its depth, what is ahead of a new job, and what that means for its wait. Reads only."""

import time
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from ingestion import connections, estimates, pace
from ingestion.estimates import Estimate, Limits
from ingestion.models import Caller, Job, Worker
from ingestion.models.jobs import LIVE_STATES
from ingestion.pace import Pace
from ingestion.provider import pacing
from ingestion.queue import controlling

AHEAD = "SELECT jobs, units FROM ingestion_ahead(%(queue)s, %(caller)s)"
DEPTH = "SELECT jobs, units, bytes, is_draining FROM ingestion_queuestate WHERE queue = %(queue)s"

# A pace changes over seconds; admission asks for it hundreds of times a second.
PACE_AGE_SECONDS = 1.0
# By queue: when it was measured (monotonic), the pace, the provider's limits, and the seconds in which a place becomes
# free.
_paces: dict[str, tuple[float, Pace, Limits, float]] = {}
_paces_lock = Lock()


@dataclass(frozen=True)
class Depth:
    """Unfinished accepted work, as admission counts it."""

    jobs: int
    units: int
    bytes: int
    is_draining: bool


def depth_of(queue: str) -> Depth:
    """The queue's depth as last committed; no lock."""
    return Depth(*connections.prepared(DEPTH, {"queue": queue})[0])


def recent_pace(queue: str) -> Pace:
    """The measured pace, at most a second old."""
    return _recent(queue)[1]


def recent_place_seconds(queue: str) -> float:
    """The seconds in which one place of the bound becomes free, found out at most a second ago."""
    return _recent(queue)[3]


def recent_limits(queue: str) -> Limits:
    """What the provider allowed at most a second ago."""
    return _recent(queue)[2]


def _recent(queue: str) -> tuple[float, Pace, Limits, float]:
    now = time.monotonic()
    with _paces_lock:
        known = _paces.get(queue)
        if known and now - known[0] < PACE_AGE_SECONDS:
            return known
        if known:
            # One thread measures; the others go on with what is known, however many come meanwhile.
            _paces[queue] = (now, *known[1:])
    measured, allowed = pace.measure(queue), limits_of(queue)
    place = estimates.place_seconds(queue, measured, allowed, depth_of(queue).jobs)
    with _paces_lock:
        _paces[queue] = found = (now, measured, allowed, place)
    return found


def foresee(queue: str, caller: Caller, units: int) -> Estimate:
    """What a job of `units` that this caller adds now can be told of its wait."""
    ((jobs_ahead, units_ahead),) = connections.prepared(AHEAD, {"queue": queue, "caller": caller.pk})
    return estimates.estimate(
        queue, recent_pace(queue), recent_limits(queue),
        jobs_ahead=int(jobs_ahead), units_ahead=float(units_ahead), units=float(units),
    )  # fmt: skip


def foresee_live(job: Job) -> Estimate:
    """The present estimate of an unfinished job."""
    if job.state not in LIVE_STATES:
        return estimates.NOTHING_LEFT
    ahead = Job.objects.filter(queue=job.queue, state__in=LIVE_STATES, turn__lte=job.turn).exclude(pk=job.pk)
    if job.state == "running":
        ahead = ahead.filter(state="running")
    jobs_ahead, units_ahead = 0, 0
    for units in ahead.values_list("units", flat=True)[:10_000]:
        jobs_ahead, units_ahead = jobs_ahead + 1, units_ahead + units
    return estimates.estimate(
        job.queue, recent_pace(job.queue), limits_of(job.queue),
        jobs_ahead=jobs_ahead, units_ahead=units_ahead, units=job.units,
    )  # fmt: skip


def limits_of(queue: str) -> Limits:
    """What the provider allows bulk work at this moment, by its own headers and what its buckets hold."""
    if queue != "documents":
        return Limits(*estimates.assumed_rates(queue))
    gate = pacing.gate()
    return Limits(gate.chat.limit_per_minute, gate.embeddings.limit_per_minute, gate.chat.room, gate.embeddings.room)


def live_jobs_of(caller: Caller, queue: str) -> int:
    return Job.objects.filter(queue=queue, caller=caller, state__in=LIVE_STATES).count()


def first_finish_seconds(caller: Caller, queue: str) -> float:
    """When the caller's own first unfinished job can be expected to finish, in seconds from now."""
    found = Job.objects.filter(queue=queue, caller=caller, state__in=LIVE_STATES).order_by("turn", "sequence").first()
    return foresee_live(found).wait_seconds if found else 1.0


def counts(queue: str) -> dict[str, int | float]:
    """Queued, ready, running, dead letters, and the age of the oldest unfinished job in seconds."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FILTER (WHERE state = 'queued'),
                   count(*) FILTER (WHERE state = 'queued' AND ready_at <= now()),
                   count(*) FILTER (WHERE state = 'running'),
                   (SELECT count(*) FROM ingestion_job WHERE queue = %(queue)s AND state = 'dead_letter'),
                   coalesce(extract(epoch FROM now() - min(queued_at)), 0)::float8
            FROM ingestion_job WHERE queue = %(queue)s AND state IN ('queued', 'running')
            """,
            {"queue": queue},
        )
        row = cursor.fetchone()
    return dict(zip(("queued", "ready", "running", "dead_letters", "oldest_age_seconds"), row, strict=True))


def is_growing(queue: str) -> bool:
    """More arrived in the last minute than finished, and work waits."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT (SELECT count(*) FROM ingestion_job
                    WHERE queue = %(queue)s AND state IN ('queued', 'running')
                      AND queued_at > now() - interval '60 seconds')
                 > (SELECT count(*) FROM ingestion_job
                    WHERE queue = %(queue)s AND finished_at > now() - interval '60 seconds'
                      AND queued_at <= now() - interval '60 seconds')
            """,
            {"queue": queue},
        )
        return bool(cursor.fetchone()[0])


def waits_for(job: Job) -> str | None:
    """What a queued job waits for: its own backoff, or the provider, also where no worker asked on its behalf."""
    if job.state != "queued":
        return None
    if job.waiting_for and (job.waiting_for != "backoff" or job.ready_at > connections.now()):
        return job.waiting_for
    if job.lane not in ("chat", "embeddings"):
        return None
    gate = pacing.gate()
    lane = gate.chat if job.lane == "chat" else gate.embeddings
    if lane.blocked_reason:
        return lane.blocked_reason
    return "provider_quota" if lane.room < 1 else None


def queue_numbers(queue: str) -> dict[str, Any]:
    """One queue as GET /v1/queue shows it."""
    bound, depth = controlling.bound_of(queue), depth_of(queue)
    measured = pace.measure(queue)
    per_minute = measured.jobs_per_minute
    is_idle = depth.jobs == 0
    drain = 0.0 if is_idle else None
    if not is_idle and per_minute > 0 and not is_growing(queue):
        drain = round(60 * depth.jobs / per_minute, 1)
    has_room = depth.jobs < bound.jobs and depth.units < bound.units and depth.bytes < bound.bytes
    return {
        "bound": vars(bound),
        "depth": {"jobs": depth.jobs, "units": depth.units, "bytes": depth.bytes},
        **counts(queue),
        "pace_per_minute": round(per_minute, 2),
        "drain_seconds": drain,
        "accepting": has_room and not depth.is_draining,
        "workers": live_workers(queue),
    }


def live_workers(queue: str) -> int:
    """Workers of this queue whose heartbeat came within three beats (at least two seconds)."""
    fresh = timedelta(seconds=max(2.0, 3 * settings.HEARTBEAT_SECONDS))
    seen = Worker.objects.filter(seen_at__gt=Now() - fresh).values_list("queues", flat=True)
    return sum(queue in queues.split(",") for queues in seen)
