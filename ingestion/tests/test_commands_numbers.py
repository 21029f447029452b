"""capacity and estimates: the arithmetic is shown with its numbers, measured where there is something to measure."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from ingestion.models import Caller, Job, JobOutcome, ProviderCall, Worker

pytestmark = pytest.mark.django_db

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def numbers(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def finished(actual_seconds: float, **values: Any) -> Job:
    """A document job that took so long from accepted to finished."""
    caller, _ = Caller.objects.get_or_create(name="omar")
    row: dict[str, Any] = {
        "queue": "documents", "kind": "ingest_version", "state": "succeeded", "max_attempts": 5, "units": 1,
        "bytes": 1, "queued_at": START, "finished_at": START + timedelta(seconds=actual_seconds), "generation": 1,
    }  # fmt: skip
    return Job.objects.create(caller=caller, **{**row, **values})


def promised(seconds: float, ahead: int, basis: str = "measured") -> dict[str, Any]:
    return {
        "estimate_seconds": seconds, "estimate_low_seconds": seconds / 2, "estimate_high_seconds": 2 * seconds,
        "estimate_basis": basis, "jobs_ahead": ahead,
    }  # fmt: skip


def call(job: Job, number: int, lane: str, tokens: int, seconds: float) -> None:
    ProviderCall.objects.create(
        client_request_id=f"{job.id}-{lane}-{number}", job=job, generation=1, lane=lane, model="m", purpose="bulk",
        step="s", started_at=START, finished_at=START + timedelta(seconds=seconds), outcome="ok",
        prompt_tokens=tokens,
    )  # fmt: skip


def test_capacity_is_assumed_before_anything_has_finished(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 7
    found = numbers("capacity")
    chat = found["limits"][0]
    assert (found["first"], chat["jobs_per_minute"]) == ("chat quota", 7)
    assert "7 requests a minute / 1.00 a job (assumed" in chat["arithmetic"]
    assert found["honest_bound"] == int(settings.PROMISED_WAIT_SECONDS * 7 / 60)


def test_capacity_is_measured_from_finished_jobs_and_live_workers(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE, settings.EMBEDDING_TOKENS_PER_MINUTE = 100, 100_000
    settings.PROMISED_WAIT_SECONDS, settings.DOCUMENTS_QUEUE_MAX = 60, 500
    for number in range(5):
        job = finished(10)
        call(job, number, "chat", 100, seconds=3)
        call(job, number, "embeddings", 2_000, seconds=1)
    Worker.objects.create(name="w", queues="documents,events", concurrency=2, seen_at=timezone.now())
    Worker.objects.create(name="other", queues="events", concurrency=9, seen_at=timezone.now())
    found = numbers("capacity")
    assert {limit["name"]: limit["jobs_per_minute"] for limit in found["limits"]} == {
        "chat quota": 100,
        "embeddings quota": 50,
        "workers": 30,
    }
    assert (found["first"], found["honest_bound"], found["configured_bound"]) == ("workers", 30, 500)
    assert "at most 30 keeps the promise" in found["warnings"][0]
    assert "measured over 5 jobs" in run("capacity")


def test_capacity_sums_the_connections_and_warns(settings: Settings) -> None:
    settings.DATABASE_POOL_MAX = 500
    found = numbers("capacity", "--api-processes", "3", "--workers", "2")
    assert found["connections"] == 3 * 500 + 2 * 4 + 10
    assert any("1518 connections are wanted" in warning for warning in found["warnings"])
    assert "WARNING" in run("capacity", "--api-processes", "3")


def test_capacity_without_a_promise_names_no_bound(settings: Settings) -> None:
    settings.PROMISED_WAIT_SECONDS = 0
    assert numbers("capacity")["honest_bound"] is None
    assert "no wait is promised" in run("capacity")
    with pytest.raises(CommandError, match="at least 1"):
        run("capacity", "--workers", "0")


def test_estimates_say_when_nothing_has_finished() -> None:
    assert run("estimates") == "No job with an estimate has finished.\n"
    assert numbers("estimates") == {"groups": []}


def test_estimates_are_compared_with_what_happened() -> None:
    for actual, ahead in ((10, 0), (14, 9), (100, 10), (40, 120)):
        finished(actual, **promised(12 if ahead < 10 else 20, ahead))
    finished(9, **promised(3, 0, "assumed"))
    finished(9)
    groups = {(one["basis"], one["jobs_ahead"]): one for one in numbers("estimates")["groups"]}
    whole = groups[(None, None)]
    assert (whole["jobs"], whole["error_seconds"]) == (5, 6.0)
    assert whole["inside"] == pytest.approx(3 / 5)
    assert groups[("measured", None)]["jobs"] == 4
    assert {ahead: one["jobs"] for (basis, ahead), one in groups.items() if ahead} == {
        "0–9": 3,
        "10–49": 1,
        "100+": 1,
    }
    assert groups[(None, "10–49")]["error_relative"] == pytest.approx(0.8)
    assert run("estimates").endswith("5 finished jobs had an estimate.\n")


def test_a_job_that_a_person_revived_counts_for_nothing() -> None:
    job = finished(3_600, **promised(5, 0), generation=3)
    JobOutcome.objects.create(job=job, generation=1, attempt=5, outcome="dead_letter")
    assert numbers("estimates") == {"groups": []}
