"""From the raw rows of a pass to its figures (pure). The names are those of `columns`."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from loadtests.percentiles import percentile, share

Row = dict[str, Any]
Figures = dict[str, float | None]
# The first part of a burst, about whose waits the queue knows least.
FIRST_PART = 0.1


def of_uploads(uploads: Sequence[Row], jobs: Sequence[Row], dropped: int) -> Figures:
    """How the uploads were answered and what became of those that were accepted."""
    ended = {job["job"]: job["state"] for job in jobs}
    accepted = [one for one in uploads if one["status"] == 202]
    refused = [one for one in uploads if one["status"] in (429, 503)]
    waits = [one["retry_after"] for one in refused if one["retry_after"] is not None]
    full = sum(one["code"] == "queue_full" for one in refused)
    limited = sum(one["code"] == "rate_limited" for one in refused)
    unanswered = sum(one["status"] == 0 for one in uploads)
    return {
        "offered": len(uploads), "accepted": len(accepted), "queue_full": full, "rate_limited": limited,
        "unanswered": unanswered, "other_answers": len(uploads) - len(accepted) - full - limited - unanswered,
        "dropped": dropped, "lost": sum(ended.get(one["job"]) != "succeeded" for one in accepted),
        **_percentiles("answer", "ms", [one["ms"] for one in uploads if one["status"]]),
        "refusal_p50_ms": _median([one["ms"] for one in refused]),
        "retry_after_least_s": min(waits, default=None), "retry_after_median_s": _median(waits),
        "retry_after_most_s": max(waits, default=None),
    }  # fmt: skip


def of_jobs(jobs: Sequence[Row], began_at: float) -> Figures:
    """From submit to result, and how much of it was waiting: both by the database's clock."""
    done = [job for job in jobs if job["result_seconds"] is not None]
    results = [job["result_seconds"] for job in done]
    return {
        **_percentiles("result", "s", results), "result_most_s": max(results, default=None),
        "wait_p50_s": _point([job["start_seconds"] for job in done], 0.5),
        "wait_p95_s": _point([job["start_seconds"] for job in done], 0.95),
        "all_done_s": max((job["queued_at"] + job["result_seconds"] for job in done), default=began_at) - began_at,
        "attempts_most": max((job["attempt"] for job in jobs), default=None),
        "dead_letters": sum(job["state"] == "dead_letter" for job in jobs),
        **_estimates(done),
    }  # fmt: skip


def _estimates(done: Sequence[Row]) -> Figures:
    """How wrong the promised waits were, at the start of the run and in all."""
    known = [job for job in done if job["estimate_seconds"] is not None]
    errors = [abs(job["result_seconds"] - job["estimate_seconds"]) for job in known]
    first = max(1, round(len(errors) * FIRST_PART))
    inside = sum(job["estimate_low_seconds"] <= job["result_seconds"] <= job["estimate_high_seconds"] for job in known)
    return {
        "estimate_error_first_s": _median(errors[:first]), "estimate_error_s": _median(errors),
        "estimates_inside": share(inside, len(known)) if known else None,
    }  # fmt: skip


def of_calls(calls: Sequence[Row], jobs: int, refused_by_provider: int) -> Figures:
    """What the versions and the questions cost: calls, tokens and money."""
    bulk = [call for call in calls if call["purpose"] == "bulk"]
    asked = [call for call in calls if call["purpose"] != "bulk"]
    questions = sum(call["lane"] == "chat" and call["outcome"] == "ok" for call in asked)
    return {
        "chat_calls": sum(call["lane"] == "chat" for call in bulk),
        "embedding_calls": sum(call["lane"] == "embeddings" for call in bulk),
        "embedding_tokens": sum(call["prompt_tokens"] for call in bulk if call["lane"] == "embeddings"),
        "provider_refusals": refused_by_provider,
        "cost_per_job_usd": sum(call["cost_usd"] for call in bulk) / jobs if jobs else None,
        "question_cost_usd": sum(call["cost_usd"] for call in asked) / questions if questions else None,
    }  # fmt: skip


def of_questions(asked: Sequence[Row]) -> Figures:
    """How the questions were answered; an answer from the cache counts for no time."""
    answered = [one["ms"] / 1000 for one in asked if one["status"] == 200 and not one["is_cached"]]
    return {
        "questions_asked": len(asked), "questions_failed": sum(one["status"] != 200 for one in asked),
        **_percentiles("question", "s", answered),
    }  # fmt: skip


def of_queue(seconds: Sequence[Row], peak: int) -> Figures:
    ages = [row["oldest_age_seconds"] for row in seconds if row.get("oldest_age_seconds") is not None]
    return {"peak_depth": peak, "oldest_most_s": max(ages, default=None)}


def _percentiles(name: str, unit: str, values: Sequence[float]) -> Figures:
    return {f"{name}_p{part}_{unit}": _point(values, part / 100) for part in (50, 95, 99)}


def _point(values: Sequence[float], part: float) -> float | None:
    known = [value for value in values if value is not None]
    return percentile(known, part) if known else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
