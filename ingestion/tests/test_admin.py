"""The admin shows everything and changes only what can break no rule."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from ingestion.models import Caller, DocumentVersion, EventRecord, Job
from ingestion.queue import controlling
from ingestion.queue.controlling import NewJob

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create(username="operator", is_staff=True, is_superuser=True))
    return client


def caller() -> Caller:
    return Caller.objects.create(name="producer", rights=["produce"])


def quarantined(event_id: str = "e-1") -> EventRecord:
    owner, _ = Caller.objects.get_or_create(name="producer", defaults={"rights": ["produce"]})
    job_id = controlling.insert(NewJob("events", "apply_event", owner.pk, 1, 10, partition="p"))
    Job.objects.filter(id=job_id).update(state="dead_letter", finished_at="2026-11-27T09:00:00Z", attempt=1)
    return EventRecord.objects.create(
        producer="p", event_id=event_id, caller=owner, type="answer.rated", partition="p", payload={"rating": "banana"},
        occurred_at="2026-11-27T09:00:00Z", payload_hash="0" * 64, job_id=job_id,
    )  # fmt: skip


@pytest.mark.parametrize("table", ["job", "eventrecord", "caller", "document", "providercall"])
def test_every_list_opens(operator: Client, table: str) -> None:
    quarantined()
    assert operator.get(f"/admin/ingestion/{table}/").status_code == 200


def test_repairing_an_event_keeps_its_identity_and_queues_it_under_a_new_generation(operator: Client) -> None:
    event = quarantined()
    before = Job.objects.get(id=event.job_id).generation
    answer = operator.post(f"/admin/ingestion/eventrecord/{event.pk}/change/", {"payload": '{"rating": 5}'})
    assert answer.status_code == 302
    event.refresh_from_db()
    job = Job.objects.get(id=event.job_id)
    assert (event.event_id, event.payload, event.payload_hash) == ("e-1", {"rating": 5}, "0" * 64)
    assert (job.state, job.attempt, job.generation) == ("queued", 0, before + 1)


def test_an_event_that_is_not_quarantined_has_no_form(operator: Client) -> None:
    event = quarantined()
    Job.objects.filter(id=event.job_id).update(state="queued", finished_at=None)
    answer = operator.post(f"/admin/ingestion/eventrecord/{event.pk}/change/", {"payload": '{"rating": 5}'})
    assert answer.status_code == 403
    event.refresh_from_db()
    assert event.payload == {"rating": "banana"}


def test_a_payload_that_is_no_object_is_refused_in_the_form(operator: Client) -> None:
    event = quarantined()
    answer = operator.post(f"/admin/ingestion/eventrecord/{event.pk}/change/", {"payload": "[1]"})
    assert b"The payload is a JSON object" in answer.content


def test_a_full_queue_leaves_a_repair_undone(operator: Client, settings: Any) -> None:
    event = quarantined()
    settings.EVENTS_QUEUE_MAX_BYTES = 1
    operator.post(f"/admin/ingestion/eventrecord/{event.pk}/change/", {"payload": '{"rating": 5}'})
    event.refresh_from_db()
    assert event.payload == {"rating": "banana"}
    assert Job.objects.get(id=event.job_id).state == "dead_letter"


def test_dead_letters_are_retried_in_bulk_and_live_jobs_are_left_alone(operator: Client) -> None:
    first, second = quarantined("e-1"), quarantined("e-2")
    Job.objects.filter(id=second.job_id).update(state="queued", finished_at=None)
    answer = operator.post(
        "/admin/ingestion/job/",
        {"action": "retry", "_selected_action": [str(first.job_id), str(second.job_id)]},
        follow=True,
    )
    assert b"1 queued again" in answer.content
    assert b"Only a dead letter or failed job can be retried" in answer.content
    assert Job.objects.get(id=first.job_id).state == "queued"


def test_jobs_and_documents_can_be_neither_added_nor_changed(operator: Client) -> None:
    event = quarantined()
    for path in ("job/add/", "document/add/", "eventrecord/add/", "caller/add/"):
        assert operator.get(f"/admin/ingestion/{path}").status_code == 403
    assert operator.post(f"/admin/ingestion/job/{event.job_id}/change/", {"state": "succeeded"}).status_code == 403
    assert DocumentVersion.objects.count() == 0


def test_the_admin_shows_no_token_hash(operator: Client) -> None:
    owner = caller()
    Caller.objects.filter(pk=owner.pk).update(token_hash="f" * 64)
    page = operator.get(f"/admin/ingestion/caller/{owner.pk}/change/")
    assert page.status_code == 200
    assert b"f" * 64 not in page.content
