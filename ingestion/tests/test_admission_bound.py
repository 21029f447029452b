"""The bound holds in jobs, work units and bytes; what it refuses is told when to come back and leaves nothing."""

import pytest
from django.db import connection
from pytest_django import Settings

from ingestion import admission, estimates, standing
from ingestion.models import Document, IdempotencyKey, Job, QueueState
from ingestion.pace import Pace
from ingestion.queue import settling, sweeping
from ingestion.tests.making import (
    TEXT,
    Uploader,
    change_job,
    claim_one,
    depth,
    live_depth,
    make_job,
    make_ready,
    problem,
    run_out,
    tokens_used,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]

UNITS = admission.document_units(len(TEXT))


@pytest.fixture
def omar() -> Uploader:
    return Uploader("omar", "upload", "operate")


@pytest.mark.parametrize(
    ("setting", "bound"),
    [
        ("DOCUMENTS_QUEUE_MAX", 3),
        ("DOCUMENTS_QUEUE_MAX_UNITS", 3 * UNITS),
        ("DOCUMENTS_QUEUE_MAX_UNITS", 4 * UNITS - 1),
        ("DOCUMENTS_QUEUE_MAX_BYTES", 3 * len(TEXT)),
        ("DOCUMENTS_QUEUE_MAX_BYTES", 4 * len(TEXT) - 1),
    ],
)
def test_what_fits_is_taken_and_one_more_is_503(omar: Uploader, settings: Settings, setting: str, bound: int) -> None:
    setattr(settings, setting, bound)
    for number in range(3):
        omar.accepted(f"d-{number}")
    refused = omar.upload("one-more", key="k")
    found = problem(refused, 503, "queue_full")
    assert 1 <= int(refused["Retry-After"]) <= settings.PROMISED_WAIT_SECONDS
    assert "nothing was saved" in found["detail"]
    assert not Document.objects.filter(slug="one-more").exists()
    assert not IdempotencyKey.objects.exists()
    assert tokens_used(omar.caller) == 3
    assert depth() == live_depth() == (3, 3 * UNITS, 3 * len(TEXT))
    assert omar.get("/v1/queue")["queues"]["documents"]["depth"] == {
        "jobs": 3, "units": 3 * UNITS, "bytes": 3 * len(TEXT),
    }  # fmt: skip


def test_a_document_ten_times_as_long_counts_about_ten_times() -> None:
    one, ten = admission.document_units(5_000), admission.document_units(50_000)
    assert 6 * one < ten < 10 * one


def test_a_full_queue_shows_that_it_accepts_nothing_and_again_that_it_does(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    accepted = omar.accepted()
    assert omar.get("/v1/queue")["queues"]["documents"]["accepting"] is False
    omar.post(accepted["job"]["url"] + "/cancel", 200)
    assert omar.get("/v1/queue")["queues"]["documents"]["accepting"] is True
    omar.accepted()


def test_a_full_queue_is_refused_before_the_body_is_read(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    omar.accepted()
    problem(omar.upload(content=b"\xff\xfe\x00not even text"), 503, "queue_full")


def test_finished_rows_do_not_count(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 2
    for state in ("succeeded", "failed", "cancelled"):
        make_job(omar.caller)
        settling.finish(claim_one(), state)
    omar.accepted("a")
    omar.accepted("b")
    problem(omar.upload("c"), 503, "queue_full")


def test_running_and_waiting_jobs_count_until_they_end(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    make_job(omar.caller)
    claim = claim_one()
    problem(omar.upload(), 503, "queue_full")
    settling.retry_or_bury(claim, "odd", "it failed")
    problem(omar.upload(), 503, "queue_full")
    make_ready()
    settling.finish(claim_one(), "succeeded")
    omar.accepted()


def test_draining_refuses_all_that_is_new_and_finishes_what_was_accepted(omar: Uploader) -> None:
    make_job(omar.caller)
    QueueState.objects.filter(queue="documents").update(is_draining=True)
    refused = omar.upload()
    problem(refused, 503, "draining")
    assert int(refused["Retry-After"]) >= 1
    assert omar.get("/v1/queue")["queues"]["documents"]["accepting"] is False
    settling.finish(claim_one(), "succeeded")
    QueueState.objects.filter(queue="documents").update(is_draining=False)
    omar.accepted()


def test_draining_is_met_exactly_also_by_one_that_looked_before(
    omar: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    QueueState.objects.filter(queue="documents").update(is_draining=True)
    monkeypatch.setattr(admission, "refuse_early", lambda *_: None)
    problem(omar.upload(), 503, "draining")
    assert depth() == (0, 0, 0)


def test_one_callers_share_is_kept_and_others_get_the_rest(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 4
    settings.CALLER_QUEUE_SHARE = 0.5
    omar.accepted("a", key="a")
    omar.accepted("b")
    refused = omar.upload("c", key="c")
    problem(refused, 429, "rate_limited")
    assert int(refused["Retry-After"]) >= 1
    assert depth() == live_depth()
    assert tokens_used(omar.caller) == 2
    assert not Document.objects.filter(slug="c").exists()
    assert omar.upload("a", key="a")["Idempotent-Replayed"] == "true"
    Uploader("mei").accepted("c")


def _measure(monkeypatch: pytest.MonkeyPatch, pace: Pace) -> None:
    standing._paces.clear()
    monkeypatch.setattr("ingestion.pace.measure", lambda queue, window_seconds=0: pace)


SLOW = Pace(jobs=10, units=10.0 * UNITS, busy_seconds=120, pressure=8.0, sojourn_seconds=60)


def test_what_could_not_be_finished_within_the_promise_is_refused_although_places_are_free(
    omar: Uploader, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PROMISED_WAIT_SECONDS = 30.0
    _measure(monkeypatch, SLOW)
    omar.accepted("a")
    omar.accepted("b")
    refused = omar.upload("c", key="k")
    problem(refused, 503, "queue_full")
    assert 12 <= int(refused["Retry-After"]) <= 30
    assert not IdempotencyKey.objects.exists()
    assert tokens_used(omar.caller) == 2
    assert depth()[0] == 2


def test_the_promise_refuses_only_while_a_pace_is_measured(
    omar: Uploader, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PROMISED_WAIT_SECONDS = 1.0
    assert omar.accepted("a")["estimate"]["basis"] == "assumed"
    assert omar.accepted("b")["estimate"]["wait_seconds"] > 1
    _measure(monkeypatch, SLOW)
    problem(omar.upload("c"), 503, "queue_full")
    settings.PROMISED_WAIT_SECONDS = 0.0
    assert omar.accepted("c")["estimate"]["basis"] == "measured"


def test_callers_refused_together_are_given_places_one_after_the_other(
    omar: Uploader, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    _measure(monkeypatch, SLOW)
    omar.accepted()
    waits = [int(omar.upload("b")["Retry-After"]) for _ in range(4)]
    place = estimates.place_seconds("documents", SLOW) * estimates.RETRY_MARGIN
    for number, wait in enumerate(waits, start=1):
        assert place * number - 1 <= wait <= place * number * (1 + estimates.JITTER) + 1


def test_a_retry_after_never_exceeds_the_promise(
    omar: Uploader, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    settings.PROMISED_WAIT_SECONDS = 40.0
    omar.accepted()
    _measure(monkeypatch, SLOW)
    assert max(int(omar.upload("b")["Retry-After"]) for _ in range(8)) <= 40


def test_the_depth_equals_the_live_rows_after_every_verb(omar: Uploader) -> None:
    for number in range(8):
        make_job(omar.caller, units=number + 1, bytes=number * 10)
    done, rejected, waiting, failing, given, lost = [claim_one() for _ in range(6)]
    settling.finish(done, "succeeded")
    settling.finish(rejected, "failed", code="no", detail="no")
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        settling.wait(waiting, cursor.fetchone()[0], "provider_quota", "chat")
    settling.retry_or_bury(failing, "odd", "odd")
    settling.give_back(given)
    assert depth() == live_depth()
    change_job(lost.id, max_attempts=1)
    run_out(lost)
    assert [state for _, state, _ in sweeping.rescue()] == ["dead_letter"]
    assert depth() == live_depth()
    cancelled = Job.objects.filter(state="queued").first()
    assert cancelled is not None
    omar.post(f"/v1/jobs/{cancelled.id}/cancel", 200)
    omar.post(f"/v1/jobs/{lost.id}/retry", 202)
    Job.objects.filter(id=given.id).update(expires_at="2026-01-01T00:00:00Z")
    assert sweeping.expire() == [given.id] or cancelled.id == given.id
    assert depth() == live_depth()
