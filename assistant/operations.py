"""What an operator sees of the running product at this moment. No HTTP, nothing is written.

Lists are cut to what a page can show; the counts beside them are whole. The last hour is `history`'s.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, F

from assistant import history
from ingestion import connections, jobs, standing
from ingestion.models import Job, Worker
from ingestion.provider import pacing
from ingestion.provider.pacing import LaneRoom

# What one look can take in; the admin has the rest.
JOBS_SHOWN = 8
DEAD_LETTERS_SHOWN = 10
ERRORS_SHOWN = 6
RUNNING_READ = 500
SILENT_SHOWN = 3
DETAIL_SHOWN = 300
# A queue that has work stands still when nothing finished for so long: as long as a pace is measured over.
STILL_SECONDS = 120
# A worker that restarts is away for some seconds; that is no alarm.
UNSERVED_SECONDS = 10

# Never the whole version: its text may have megabytes.
SUBJECT = {
    "document": F("version__document__slug"),
    "number": F("version__number"),
    "producer": F("event__producer"),
    "event_name": F("event__event_id"),
    "event_type": F("event__type"),
}
ABOUT = ("id", "worker", "state", "attempt", "max_attempts", "progress_done", "progress_total", "started_at")


def numbers() -> dict[str, Any]:
    """Queues, provider, workers, dead letters and the cost of the day, as they stand now."""
    now = connections.now()
    provider = _provider()
    return {
        "at": _moment(now),
        "queues": {queue: _queue(queue, provider) for queue in jobs.QUEUES},
        "provider": provider,
        "workers": _workers(now),
        "cost_today_usd": f"{history.cost_today():.6f}",
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def _queue(queue: str, provider: dict[str, Any]) -> dict[str, Any]:
    found = standing.queue_numbers(queue)
    found["is_draining"] = standing.depth_of(queue).is_draining
    found["stalled"] = stalled(found, provider)
    found["letters"] = _dead_letters(queue) if found["dead_letters"] else {"newest": [], "errors": []}
    return found


def stalled(queue: dict[str, Any], provider: dict[str, Any]) -> str | None:
    """Why a queue that has work does not move, None while it does; `queue` as GET /v1/queue shows it."""
    age = queue["oldest_age_seconds"]
    if not queue["depth"]["jobs"] or age < UNSERVED_SECONDS:
        return None
    if not queue["workers"]:
        return "No worker serves this queue. Start one: manage.py runworker."
    if queue["pace_per_minute"] > 0 or age < STILL_SECONDS:
        return None
    if provider["state"] != "ok":
        return f"The provider can't be used: {provider['reason'] or provider['state']}"
    return f"Nothing has finished for {STILL_SECONDS // 60} minutes, although a worker is there."


def _provider() -> dict[str, Any]:
    gate, snapshot, used = pacing.gate(), pacing.snapshot(), history.used_lately()
    return {
        "state": snapshot["state"],
        "reason": snapshot["reason"],
        "next_at": None if gate.breaker.state == "closed" else _moment(gate.breaker.next_at),
        "lanes": {lane.lane: _lane(lane, used) for lane in (gate.chat, gate.embeddings)},
    }


def _lane(lane: LaneRoom, used: dict[tuple[str, str], int]) -> dict[str, Any]:
    """`used` and `left` of the bucket; `left_bulk` is what bulk work may take of it; use of the last sixty seconds."""
    left = max(0, lane.limit_per_minute - lane.used)
    return {
        "limit": lane.limit_per_minute,
        "used": lane.used,
        "left": left,
        "left_bulk": round(max(0.0, left - lane.question_share * lane.limit_per_minute)),
        "kept_for_questions": round(lane.question_share * lane.limit_per_minute),
        "blocked": lane.blocked_reason,
        "questions": used.get((lane.lane, "question"), 0),
        "bulk": used.get((lane.lane, "bulk"), 0),
    }


def _workers(now: datetime) -> list[dict[str, Any]]:
    """Live workers with what each works on, then the last of those that fell silent."""
    running = Job.objects.filter(state="running").annotate(**SUBJECT).order_by("started_at")
    work: dict[str, list[dict[str, Any]]] = {}
    for job in running.values(*ABOUT, *SUBJECT)[:RUNNING_READ]:
        work.setdefault(job["worker"], []).append(_work(job))
    fresh = max(2.0, 3 * settings.HEARTBEAT_SECONDS)
    found = [_worker(worker, now, fresh, work) for worker in Worker.objects.order_by("-seen_at")[:RUNNING_READ]]
    silent = [worker for worker in found if not worker["is_live"]]
    return sorted((w for w in found if w["is_live"]), key=lambda w: w["name"]) + silent[:SILENT_SHOWN]


def _worker(worker: Worker, now: datetime, fresh: float, work: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    silence = (now - worker.seen_at).total_seconds()
    mine = work.get(worker.name, [])
    return {
        "name": worker.name,
        "queues": worker.queues.split(","),
        "concurrency": worker.concurrency,
        "busy": len(mine),
        "started_at": _moment(worker.started_at),
        "seen_seconds": round(max(0.0, silence), 1),
        "is_live": silence < fresh,
        "jobs": mine[:JOBS_SHOWN],
    }


def _work(job: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(job["id"]),
        "subject": _subject(job),
        "document": job["document"],
        "attempt": job["attempt"],
        "max_attempts": job["max_attempts"],
        "done": job["progress_done"],
        "total": job["progress_total"],
        "started_at": _moment(job["started_at"]),
    }


def _subject(job: dict[str, Any]) -> str:
    """What a person calls it."""
    if job["document"]:
        return f"{job['document']}, version {job['number']}"
    if job["producer"]:
        return f"{job['event_type']} {job['event_name']} of {job['producer']}"
    return str(job["id"])


def _dead_letters(queue: str) -> dict[str, Any]:
    """The newest, and how many there are of each error."""
    dead = Job.objects.filter(queue=queue, state="dead_letter")
    errors = dead.values("error_code").annotate(jobs=Count("id")).order_by("-jobs", "error_code")
    newest = dead.annotate(**SUBJECT).order_by("-finished_at")
    rows = newest.values(*ABOUT, *SUBJECT, "error_code", "error_detail", "finished_at")[:DEAD_LETTERS_SHOWN]
    return {
        "errors": [{"code": row["error_code"] or "unknown", "jobs": row["jobs"]} for row in errors[:ERRORS_SHOWN]],
        "newest": [
            {
                **_work(row),
                "error": row["error_code"] or "unknown",
                "detail": row["error_detail"][:DETAIL_SHOWN],
                "finished_at": _moment(row["finished_at"]),
            }
            for row in rows
        ],
    }
