"""Retrying and cancelling jobs in the admin: told before, done as over HTTP, and clear where somebody was faster."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from pytest_django import Settings

from ingestion import draining
from ingestion.models import DocumentVersion, Job, JobOutcome, ProviderCall
from ingestion.tests import making
from ingestion.tests.eventing import live_depth
from ingestion.tests.operating import act, dead_job, quarantined, signed_in, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return signed_in("operator", "operate")


def state(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def test_what_will_happen_is_told_by_outcome_and_nothing_is_done_yet(operator: Client) -> None:
    jobs = [dead_job() for _ in range(3)] + [dead_job(state="succeeded"), dead_job(state="cancelled")]
    said = act(operator, "job", "retry", *[job.id for job in jobs], confirmed=False)
    assert "3 of the queue “events” will be queued now" in said
    assert "1: they are succeeded, not a dead letter or failed" in said
    assert "Yes, retry 3" in said
    assert live_depth() == (0, 0, 0)


def test_the_confirmed_ones_are_queued_and_noted_with_who_did_it(operator: Client) -> None:
    dead, live = dead_job(), dead_job(state="queued", finished_at=None)
    said = act(operator, "job", "retry", dead.id, live.id)
    assert "1 queued again" in said
    assert "Only a dead letter or failed job can be retried" in said
    assert (state(dead), dead.attempt, dead.generation) == ("queued", 0, 2)
    assert [(entry.user.username, entry.object_id) for entry in LogEntry.objects.all()] == [("operator", str(dead.id))]


def test_many_at_once_fill_their_share_and_the_rest_stays(operator: Client, settings: Settings) -> None:
    settings.EVENTS_QUEUE_MAX = 8
    jobs = [dead_job() for _ in range(5)]
    told = act(operator, "job", "retry", *[job.id for job in jobs], confirmed=False)
    assert "2 of the queue “events” will be queued now" in told
    assert "3 of the queue “events” will stay as they are: many at once may fill 25% of its bound" in told
    said = act(operator, "job", "retry", *[job.id for job in jobs])
    assert "2 queued again" in said
    assert "3 of 'events' stay as they are" in said
    assert Job.objects.filter(state="dead_letter").count() == 3


def test_one_alone_may_take_the_last_place_and_none_beyond(operator: Client, settings: Settings) -> None:
    settings.EVENTS_QUEUE_MAX = 1
    first, second = dead_job(), dead_job()
    act(operator, "job", "retry", first.id)
    assert state(first) == "queued"
    assert "its bound leaves no place" in act(operator, "job", "retry", second.id, confirmed=False)
    assert "1 of 'events' stay as they are" in act(operator, "job", "retry", second.id)
    assert state(second) == "dead_letter"


def test_a_paused_queue_is_named(operator: Client) -> None:
    job = dead_job()
    draining.pause_admission("events")
    assert "admission to it is paused" in act(operator, "job", "retry", job.id, confirmed=False)


def test_two_operators_at_once_retry_it_once_and_the_second_is_told(operator: Client) -> None:
    job = dead_job()
    address = "/admin/ingestion/job/"
    sent: dict[str, Any] = {"action": "retry", "_selected_action": [str(job.id)]}
    # Both have the page with the question open.
    chosen = operator.post(address, sent).context["chosen"]
    other = signed_in("kwame", "operate")
    assert other.post(address, sent).context["chosen"] == chosen
    confirmed = {**sent, "chosen": chosen, "confirmed": "yes"}
    assert "1 queued again" in words(other.post(address, confirmed, follow=True))
    said = words(operator.post(address, confirmed, follow=True))
    assert "0 queued again" in said
    assert f"job {job.id} is queued. Somebody else may have been faster" in said
    assert (state(job), job.generation) == ("queued", 2)


def test_all_that_a_filter_shows_can_be_chosen(operator: Client, settings: Settings) -> None:
    for _ in range(3):
        dead_job()
    one = dead_job(error_code="other")
    address = "/admin/ingestion/job/?error_code__exact=other"
    sent = {"action": "retry", "select_across": "1", "_selected_action": [str(one.id)]}
    asked = operator.post(address, sent)
    assert asked.context["count"] == 1
    operator.post(address, {**sent, "chosen": asked.context["chosen"], "confirmed": "yes"})
    assert list(Job.objects.filter(state="queued").values_list("id", flat=True)) == [one.id]


def test_the_job_of_a_deleted_document_is_told_and_left(operator: Client, files: object) -> None:
    job = making.Uploader().accepted()["job"]["id"]
    making.change_job(job, state="dead_letter", finished_at="2026-11-27T09:00:00Z")
    DocumentVersion.objects.update(deleted_at="2026-11-27T09:00:00Z")
    assert "1: their document was deleted" in act(operator, "job", "retry", job, confirmed=False)


def test_queued_jobs_are_cancelled_and_others_left(operator: Client) -> None:
    waiting = making.make_job(making.make_caller())
    done = dead_job(state="succeeded")
    told = act(operator, "job", "cancel", waiting, done.id, confirmed=False)
    assert "1 queued jobs will be cancelled" in told
    assert "1: they are succeeded, no longer queued" in told
    said = act(operator, "job", "cancel", waiting, done.id)
    assert "1 cancelled" in said
    assert "1 were no longer queued and are left alone" in said
    assert (making.job(waiting).state, state(done)) == ("cancelled", "succeeded")
    assert making.depth() == making.live_depth()


def test_actions_need_the_right_also_when_the_form_is_sent_by_hand() -> None:
    job = dead_job()
    client = signed_in("mei", "upload")
    sent = {"action": "retry", "_selected_action": [str(job.id)], "chosen": str(job.id), "confirmed": "yes"}
    assert client.post("/admin/ingestion/job/", sent).status_code == 403
    assert state(job) == "dead_letter"


def test_nonsense_in_the_form_changes_nothing(operator: Client) -> None:
    job = dead_job()
    sent = {"action": "retry", "_selected_action": [str(job.id)], "chosen": "nonsense,'", "confirmed": "yes"}
    assert "0 queued again" in words(operator.post("/admin/ingestion/job/", sent, follow=True))
    assert state(job) == "dead_letter"


def test_the_page_of_a_job_shows_its_steps_calls_history_and_links(
    operator: Client, files: object, simulator: object
) -> None:
    job = making.Uploader().accepted()["job"]["id"]
    making.make_ready(job)
    making.run(making.claim_one())
    page = words(operator.get(f"/admin/ingestion/job/{job}/change/"))
    assert "Document returns, version 1" in page
    for step in ("text yes", "chunks yes 1 chunks", "summary yes", "vectors yes 1 of 1 chunks", "published yes"):
        assert step in page
    for call in ProviderCall.objects.filter(job_id=job):
        assert call.client_request_id in page
    assert JobOutcome.objects.filter(job_id=job, outcome="succeeded").exists()
    assert "succeeded" in page.partition("History")[2]
    assert "Retry…" not in page


def test_the_page_of_a_dead_letter_offers_a_retry_and_that_of_a_waiting_job_a_cancel(operator: Client) -> None:
    event = quarantined()
    page = operator.get(f"/admin/ingestion/job/{event.job_id}/change/")
    assert "Retry…" in words(page)
    assert f"Event {event}" in words(page)
    act(operator, "job", "retry", event.job_id)
    assert "Cancel…" in words(operator.get(f"/admin/ingestion/job/{event.job_id}/change/"))


def test_markup_in_what_a_job_says_stays_text(operator: Client) -> None:
    job = dead_job(error_detail="<script>alert(1)</script>", worker="<b>w</b>")
    assert b"<script>alert(1)" not in operator.get(f"/admin/ingestion/job/{job.id}/change/").content
