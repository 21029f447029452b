"""POST /v1/events: accepted means saved; a repeat is known; what is refused leaves nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ingestion.models import Checkpoint, EventRecord, IntakeCount, Job, ProducerOwner, QueueState
from ingestion.tests.eventing import Producer, depth, event, live_depth, work

pytestmark = pytest.mark.django_db
# A worker claims what is ready by the clock of its own transaction: where one works, the test commits.
WITH_WORKER = pytest.mark.django_db(transaction=True)


def assert_nothing_is_stored() -> None:
    for model in (EventRecord, Job, ProducerOwner, Checkpoint):
        assert not model._default_manager.exists(), model
    assert depth() == (0, 0, 0)


def test_an_accepted_event_is_saved_with_its_job_and_its_place() -> None:
    producer = Producer()
    response = producer.send(payload={"document": "returns", "version": 1, "unknown": [1, "zwei", None]})
    assert response.status_code == 202
    answer = response.json()
    stored = EventRecord.objects.select_related("job").get()
    assert answer["event"] == {
        "producer": "helpdesk-eu", "event_id": "e-1", "type": "document.viewed", "state": "queued",
    }  # fmt: skip
    assert answer["job"] == {"id": str(stored.job_id), "state": "queued", "url": f"/v1/jobs/{stored.job_id}"}
    assert set(answer["estimate"]) == {"wait_seconds", "low_seconds", "high_seconds", "basis"}
    assert response["Location"] == f"/v1/jobs/{stored.job_id}"
    assert stored.payload == {"document": "returns", "version": 1, "unknown": [1, "zwei", None]}
    assert (stored.job.queue, stored.job.kind, stored.job.partition) == ("events", "apply_event", "helpdesk-eu")
    assert Checkpoint.objects.get().last_applied == 0
    assert depth() == live_depth() == (1, 1, stored.job.bytes)


def test_the_same_event_again_is_a_replay_and_takes_no_place() -> None:
    producer = Producer()
    first = producer.send(payload={"document": "returns", "version": 1, "minutes": 5})
    # The same payload in other words: order of keys, 5.0 for 5, another time; identity decides, not bytes.
    again = producer.send(payload={"minutes": 5.0, "version": 1, "document": "returns"}, partition="other")
    assert (again.status_code, again["Idempotent-Replayed"]) == (202, "true")
    assert "Idempotent-Replayed" not in first
    assert again.json()["job"] == first.json()["job"]
    assert EventRecord.objects.count() == 1
    assert depth() == live_depth()
    assert IntakeCount.objects.get().replayed == 1


@pytest.mark.parametrize(
    "changes", [{"payload": {"document": "refunds", "version": 1}}, {"type": "answer.cited"}, {"payload": {}}]
)
def test_the_same_identity_with_another_type_or_payload_is_a_conflict(changes: dict[str, Any]) -> None:
    producer = Producer()
    producer.send()
    response = producer.send(**changes)
    assert (response.status_code, response.json()["code"]) == (409, "event_conflict")
    assert EventRecord.objects.get().payload == {"document": "returns", "version": 1}
    assert IntakeCount.objects.get().conflict == 1


@WITH_WORKER
def test_a_replay_tells_what_became_of_the_event() -> None:
    producer = Producer()
    producer.send()
    work()
    answer = producer.send().json()
    assert (answer["event"]["state"], answer["job"]["state"]) == ("quarantined", "dead_letter")


def test_a_producer_name_belongs_to_the_caller_that_first_sent_under_it() -> None:
    owner, other = Producer(), Producer("intruder")
    owner.send()
    for number in (1, 2):
        response = other.send(number)
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert EventRecord.objects.count() == 1
    assert other.ledger()["invalid"] == 2


@WITH_WORKER
def test_a_full_queue_refuses_new_events_and_knows_old_ones(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 2
    producer = Producer()
    assert [producer.send(number).status_code for number in (1, 2)] == [202, 202]
    refused = producer.send(3)
    assert (refused.status_code, refused.json()["code"]) == (503, "queue_full")
    assert int(refused["Retry-After"]) >= 1
    assert producer.send(2)["Idempotent-Replayed"] == "true"
    assert producer.send(2, payload={}).status_code == 409
    assert EventRecord.objects.count() == 2
    work()
    assert producer.send(3).status_code == 202
    assert producer.ledger()["rejected"] == 1


@pytest.mark.parametrize("limit, value", [("EVENTS_QUEUE_MAX_UNITS", 12), ("EVENTS_QUEUE_MAX_BYTES", 300)])
def test_the_bound_counts_units_and_bytes_too(settings: LazySettings, limit: str, value: int) -> None:
    setattr(settings, limit, value)
    producer = Producer()
    ticket = {"ticket_id": "t" * 90, "documents": ["returns"], "minutes": 3}
    first = producer.send(1, type="ticket.resolved", payload=ticket)
    second = producer.send(2, type="ticket.resolved", payload=ticket)
    assert (first.status_code, second.status_code) == (202, 503)
    assert producer.send(3).status_code == 202, "a cheaper event still fits"
    assert depth() == live_depth()


def test_an_event_that_no_empty_queue_could_hold_is_too_large_not_too_early(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX_BYTES = 60
    response = Producer().send()
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert_nothing_is_stored()


def test_a_draining_queue_refuses_new_events_and_knows_old_ones() -> None:
    producer = Producer()
    producer.send(1)
    QueueState.objects.filter(queue="events").update(is_draining=True)
    refused = producer.send(2)
    assert (refused.status_code, refused.json()["code"]) == (503, "draining")
    assert "Retry-After" in refused
    assert producer.send(1).status_code == 202


def test_a_caller_over_its_limit_is_told_when_while_others_are_accepted(settings: LazySettings) -> None:
    settings.EVENTS_PER_MINUTE = 2
    greedy, modest = Producer(), Producer("modest")
    assert [greedy.send(number).status_code for number in (1, 2)] == [202, 202]
    refused = greedy.send(3)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert {"Retry-After", "RateLimit-Policy", "RateLimit"} <= set(refused.headers)
    assert greedy.send(2)["Idempotent-Replayed"] == "true"
    assert modest.send(1, producer="modest").status_code == 202


@WITH_WORKER
def test_what_is_refused_for_another_reason_costs_no_token(settings: LazySettings) -> None:
    settings.EVENTS_PER_MINUTE, settings.EVENTS_QUEUE_MAX = 2, 1
    producer = Producer()
    producer.send(1)
    for _ in range(3):
        producer.send(1)
        producer.send(1, payload={})
        producer.send(2, type="unknown")
        assert producer.send(3).status_code == 503
    work()
    assert producer.send(4).status_code == 202
    assert producer.send(5).status_code == 503


def test_a_callers_share_of_the_bound_leaves_room_for_others(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX, settings.CALLER_QUEUE_SHARE = 10, 0.3
    greedy, modest = Producer(), Producer("modest")
    assert [greedy.send(number).status_code for number in range(5)] == [202, 202, 202, 429, 429]
    assert "Retry-After" in greedy.send(6)
    assert modest.send(1, producer="modest").status_code == 202
    assert depth() == live_depth()


def test_a_deadline_that_has_passed_is_refused_and_one_that_comes_is_kept() -> None:
    producer = Producer()
    past = producer.send(1, expires_at=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())
    assert (past.status_code, past.json()["code"], past.json()["field"]) == (422, "invalid_event", "expires_at")
    assert_nothing_is_stored()
    comes = (datetime.now(UTC) + timedelta(hours=1)).replace(microsecond=0)
    assert producer.send(1, expires_at=comes.isoformat()).status_code == 202
    assert Job.objects.get().expires_at == comes


def test_a_replay_of_an_event_whose_deadline_passed_meanwhile_is_still_a_replay() -> None:
    producer = Producer()
    producer.send(1, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    again = producer.send(1, expires_at=(datetime.now(UTC) - timedelta(hours=1)).isoformat())
    assert again["Idempotent-Replayed"] == "true"


def test_sending_needs_the_right_to_produce_and_a_token() -> None:
    reader = Producer("reader", "ask", "upload")
    assert reader.send().status_code == 403
    assert reader.post({"events": [event()]}, path="/v1/events/batch").status_code == 403
    reader.client.defaults["HTTP_AUTHORIZATION"] = "Bearer lk_unknown"
    refused = reader.send()
    assert (refused.status_code, "WWW-Authenticate" in refused) == (401, True)
    assert_nothing_is_stored()
    assert not IntakeCount.objects.exists(), "who may not send has offered nothing"


def test_an_admission_takes_two_statements_the_lookup_of_the_token_included() -> None:
    producer = Producer()
    producer.send(1)
    with CaptureQueriesContext(connection) as accepted:
        producer.send(2)
    # The look, with the caller, and the admission. The pace is measured once a second, not once an event.
    assert len(accepted) == 2, [query["sql"][:60] for query in accepted]
