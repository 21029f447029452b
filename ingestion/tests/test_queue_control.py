"""Cancel and retry as people ask for them, and what GET /v1/queue and a waiting job tell."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from ingestion import draining
from ingestion.models import DocumentVersion, Job, JobOutcome, ProviderLane, Worker
from ingestion.queue import settling
from ingestion.tests.making import (
    Uploader,
    change_job,
    claim_one,
    depth,
    job,
    live_depth,
    make_job,
    problem,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]


@pytest.fixture
def omar() -> Uploader:
    return Uploader("omar", "upload", "operate")


def ended(omar: Uploader, state: str) -> dict[str, Any]:
    """An upload whose job ended in `state`."""
    accepted = omar.accepted()
    change_job(accepted["job"]["id"], ready_at="2026-01-01T00:00:00Z")
    settling.finish(claim_one(), state, code="odd", detail="odd")
    return accepted


def test_a_queued_job_is_cancelled_its_version_too_and_its_place_is_free(omar: Uploader) -> None:
    accepted = omar.accepted()
    found = omar.post(accepted["job"]["url"] + "/cancel", 200)
    assert (found["state"], found["generation"]) == ("cancelled", 1)
    assert found["finished_at"] is not None
    assert omar.get(accepted["version"]["url"])["state"] == "cancelled"
    assert omar.get("/v1/documents/returns")["pending"] is None
    assert depth() == (0, 0, 0)
    assert JobOutcome.objects.get().outcome == "cancelled"


def test_a_running_job_is_not_cancelled(omar: Uploader) -> None:
    accepted = omar.accepted()
    change_job(accepted["job"]["id"], ready_at="2026-01-01T00:00:00Z")
    claim_one()
    found = problem(omar.client.post(accepted["job"]["url"] + "/cancel"), 409, "conflict")
    assert "running" in found["detail"]
    assert job(accepted["job"]["id"]).state == "running"


@pytest.mark.parametrize("state", ["succeeded", "failed", "dead_letter", "cancelled", "expired"])
def test_an_ended_job_is_not_cancelled(omar: Uploader, state: str) -> None:
    accepted = ended(omar, state)
    found = problem(omar.client.post(accepted["job"]["url"] + "/cancel"), 409, "conflict")
    assert state in found["detail"]


def test_a_callers_job_is_cancelled_by_itself_or_an_operator_only(omar: Uploader) -> None:
    mei = Uploader("mei")
    theirs = mei.accepted()["job"]["url"]
    problem(Uploader("kwame").client.post(f"{theirs}/cancel"), 404, "not_found")
    omar.post(f"{theirs}/cancel", 200)


@pytest.mark.parametrize("state", ["dead_letter", "failed"])
def test_a_dead_letter_or_failed_job_is_retried_with_a_fresh_budget(omar: Uploader, state: str) -> None:
    accepted = ended(omar, state)
    assert omar.get(accepted["version"]["url"])["state"] == "failed"
    response = omar.client.post(accepted["job"]["url"] + "/retry")
    assert response.status_code == 202
    assert response["Location"] == accepted["job"]["url"]
    found = response.json()
    assert (found["state"], found["attempt"], found["generation"], found["error"]) == ("queued", 0, 2, None)
    assert omar.get(accepted["version"]["url"])["state"] == "pending"
    assert depth() == live_depth() != (0, 0, 0)


def test_a_second_retry_finds_the_job_alive_and_says_so(omar: Uploader) -> None:
    accepted = ended(omar, "dead_letter")
    omar.post(accepted["job"]["url"] + "/retry", 202)
    found = problem(omar.client.post(accepted["job"]["url"] + "/retry"), 409, "conflict")
    assert "queued" in found["detail"]
    assert job(accepted["job"]["id"]).generation == 2
    assert depth()[0] == 1


@pytest.mark.parametrize("state", ["succeeded", "cancelled", "expired"])
def test_what_ended_otherwise_is_not_retried(omar: Uploader, state: str) -> None:
    problem(omar.client.post(ended(omar, state)["job"]["url"] + "/retry"), 409, "conflict")
    assert depth() == (0, 0, 0)


def test_a_retry_needs_a_place_like_any_other(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    accepted = ended(omar, "dead_letter")
    make_job(omar.caller)
    response = omar.client.post(accepted["job"]["url"] + "/retry")
    problem(response, 503, "queue_full")
    assert int(response["Retry-After"]) >= 1
    row = job(accepted["job"]["id"])
    assert (row.state, row.generation, row.error_code) == ("dead_letter", 1, "odd")
    assert depth() == live_depth()


def test_a_retry_while_the_queue_drains_is_told_so(omar: Uploader) -> None:
    accepted = ended(omar, "dead_letter")
    draining.pause_admission("documents")
    problem(omar.client.post(accepted["job"]["url"] + "/retry"), 503, "draining")
    assert job(accepted["job"]["id"]).state == "dead_letter"


def test_a_retry_needs_the_right_to_operate() -> None:
    mei = Uploader("mei")
    problem(mei.client.post(mei.accepted()["job"]["url"] + "/retry"), 403, "forbidden")


def test_a_job_of_a_deleted_document_is_not_retried(omar: Uploader) -> None:
    accepted = ended(omar, "failed")
    assert omar.client.delete("/v1/documents/returns").status_code == 204
    problem(omar.client.post(accepted["job"]["url"] + "/retry"), 409, "conflict")


def test_an_ended_job_tells_its_error(omar: Uploader) -> None:
    accepted = ended(omar, "failed")
    assert omar.get(accepted["job"]["url"])["error"] == {"code": "odd", "detail": "odd"}


# --- what waits, and why --------------------------------------------------------------------------------------------


def waiting_for(omar: Uploader, accepted: dict[str, Any]) -> str | None:
    found: str | None = omar.get(accepted["job"]["url"])["waiting_for"]
    return found


def test_a_job_that_backs_off_says_so_until_its_time_has_come(omar: Uploader) -> None:
    accepted = omar.accepted()
    change_job(accepted["job"]["id"], waiting_for="backoff", ready_at=datetime.now(UTC) + timedelta(hours=1))
    assert waiting_for(omar, accepted) == "backoff"
    change_job(accepted["job"]["id"], ready_at=datetime.now(UTC) - timedelta(seconds=1))
    assert waiting_for(omar, accepted) is None


def test_a_job_that_no_worker_can_take_because_its_lane_is_paused_says_so(omar: Uploader) -> None:
    accepted = omar.accepted()
    until = datetime.now(UTC) + timedelta(minutes=1)
    ProviderLane.objects.create(
        name="chat", limit_per_minute=100, level=100, paused_until=until, paused_since=until, pause_reason="No key."
    )
    assert waiting_for(omar, accepted) == "provider_quota"
    provider = omar.get("/v1/queue")["provider"]
    assert provider["state"] == "paused"
    assert "No key." in provider["reason"]


def test_the_queue_tells_depth_bound_states_and_live_workers(omar: Uploader, settings: Settings) -> None:
    made = [make_job(omar.caller, units=5, bytes=6) for _ in range(3)]
    claim_one()
    now = datetime.now(UTC)
    change_job(made[2], ready_at=now + timedelta(hours=1), queued_at=now - timedelta(seconds=60))
    Worker.objects.create(name="alive", queues="documents,events", concurrency=4, seen_at=now)
    Worker.objects.create(name="silent", queues="documents", concurrency=4, seen_at=now - timedelta(hours=1))
    found = omar.get("/v1/queue")["queues"]
    assert found.keys() == {"documents", "events"}
    documents = found["documents"]
    assert documents["bound"] == {
        "jobs": settings.DOCUMENTS_QUEUE_MAX,
        "units": settings.DOCUMENTS_QUEUE_MAX_UNITS,
        "bytes": settings.DOCUMENTS_QUEUE_MAX_BYTES,
    }
    assert documents["depth"] == {"jobs": 3, "units": 15, "bytes": 18}
    assert [documents[name] for name in ("queued", "ready", "running", "dead_letters", "workers", "accepting")] == [
        2, 1, 1, 0, 1, True,
    ]  # fmt: skip
    assert documents["oldest_age_seconds"] == pytest.approx(60, abs=5)
    assert found["events"]["drain_seconds"] == 0


def test_every_version_has_one_job_and_every_job_its_subject(omar: Uploader) -> None:
    for number in range(3):
        omar.accepted(f"d-{number}")
    assert DocumentVersion.objects.count() == Job.objects.filter(version__isnull=False).count() == 3
