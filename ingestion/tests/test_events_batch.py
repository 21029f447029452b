"""POST /v1/events/batch: an outcome for each event, and one bad event never sinks the others."""

import json
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ingestion.models import EventRecord, Job, QueueState
from ingestion.tests.eventing import Producer, depth, event, live_depth

pytestmark = pytest.mark.django_db

PATH = "/v1/events/batch"


def outcomes(found: list[dict[str, Any]]) -> list[str]:
    return [one["outcome"] for one in found]


def test_a_hundred_events_are_accepted_in_their_order() -> None:
    found = Producer().batch([event(number) for number in range(100)])
    assert outcomes(found) == ["accepted"] * 100
    assert found[7]["event"] == {
        "producer": "helpdesk-eu", "event_id": "e-7", "type": "document.viewed", "state": "queued",
    }  # fmt: skip
    rows = EventRecord.objects.order_by("job__sequence").values_list("event_id", "job_id")
    assert [(one["event"]["event_id"], one["job"]["id"]) for one in found] == [(name, str(job)) for name, job in rows]
    turns = list(Job.objects.order_by("sequence").values_list("turn", flat=True))
    assert turns == list(range(turns[0], turns[0] + 100)), "each stands a turn behind the one before"
    assert list(Job.objects.order_by("sequence").values_list("jobs_ahead", flat=True)) == list(range(100))
    assert depth() == live_depth()


def test_a_hundred_events_cost_the_statements_of_one() -> None:
    producer = Producer()
    producer.send(0)
    with CaptureQueriesContext(connection) as captured:
        producer.batch([event(number) for number in range(1, 101)])
    assert len(captured) == 3, "the caller, the look, the admission"


def test_bad_events_do_not_sink_their_batch() -> None:
    good = [json.dumps(event(number)) for number in range(3)]
    bad = [
        json.dumps(event(9, type="unknown")), '"text"', "null", "[[]]", '{"producer": "a\\u0000"}', '{"a": 1, "a": 2}',
        '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', "[" * 2_000 + "]" * 2_000, "01", "tru", '{"a" 1}',
        json.dumps(event(10, event_id="x" * 10_000)), json.dumps(event(11, occurred_at="2026-11-27T09:00:00")),
        json.dumps(event(12, payload={"text": "x" * 70_000})),
    ]  # fmt: skip
    body = f'{{"note": {{"events": [1]}}, "events": [{", ".join([*good[:2], *bad, good[2]])}]}}'
    response = Producer().post(body.encode(), path=PATH)
    found = response.json()["outcomes"]
    assert outcomes(found) == ["accepted", "accepted", *["invalid"] * len(bad), "accepted"]
    assert all(one["detail"] and one["event"] is None for one in found if one["outcome"] == "invalid")
    assert found[2]["field"] == "type"
    assert EventRecord.objects.count() == 3


def test_a_byte_that_is_no_utf_8_spoils_only_its_event() -> None:
    body = json.dumps({"events": [event(1, producer="?"), event(2)]}).encode().replace(b'"?"', b'"\xff"')
    found = Producer().post(body, path=PATH).json()["outcomes"]
    assert outcomes(found) == ["invalid", "accepted"]
    assert "UTF-8" in found[0]["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {}, [], 5, {"events": None}, {"events": {}}, {"events": "x"}, {"events": []},
        {"events": [{}] * 501}, {"events": [{}] * 10_000},
        b'{"events": [', b'{"events": [{}}', b'{"events": [] []}', b'{"events": [NaN], "events": [NaN]}',
        b'{"events": [1e999], "other": NaN}', b"\xff", b'{"events": [NaN]]}', b'"events": [NaN]', b'{"events" [NaN]}',
        b'{"more": {"events": [NaN]}}', b'{"events": [{},]}', b'{"events": [,]}', b'{"events": [{}, ,{}]}',
    ],
)  # fmt: skip
def test_a_batch_that_is_none_is_refused_whole_and_counts_once(body: Any) -> None:
    producer = Producer()
    response = producer.post(body, path=PATH)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
    assert not EventRecord.objects.exists()
    assert producer.ledger()["invalid"] == 1


def test_a_batch_that_is_too_large_or_of_another_type_is_refused() -> None:
    producer = Producer()
    assert producer.post(b"[" * 10_000_000, path=PATH).status_code == 413
    assert producer.post(b"{}", "text/plain", path=PATH).status_code == 415


def test_five_hundred_events_are_a_batch(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 600
    assert outcomes(Producer().batch([event(number) for number in range(500)])) == ["accepted"] * 500


def test_what_the_queue_has_no_place_for_is_rejected_with_a_time(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 5
    producer = Producer()
    producer.send(0)
    found = producer.batch([event(number) for number in range(8)])
    assert outcomes(found) == ["replayed", *["accepted"] * 4, *["rejected"] * 3]
    assert all(one["retry_after"] >= 1 and one["code"] == "queue_full" for one in found[5:])
    assert depth() == live_depth()
    assert depth()[0] == 5
    again = producer.batch([event(number) for number in range(8)])
    assert outcomes(again) == [*["replayed"] * 5, *["rejected"] * 3]


def test_units_end_a_batch_where_they_are_spent(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX_UNITS = 12
    ticket = {"ticket_id": "t", "documents": ["returns"], "minutes": 3}
    events = [event(1), event(2, type="ticket.resolved", payload=ticket), event(3), event(4)]
    assert outcomes(Producer().batch(events)) == ["accepted", "accepted", "accepted", "rejected"]
    assert depth() == live_depth()
    assert depth()[1] == 12


def test_a_batch_takes_the_tokens_that_are_left(settings: LazySettings) -> None:
    settings.EVENTS_PER_MINUTE = 3
    producer = Producer()
    producer.send(0)
    found = producer.batch([event(number) for number in range(5)])
    assert outcomes(found) == ["replayed", "accepted", "accepted", "rejected", "rejected"]
    assert (found[4]["code"], found[4]["retry_after"] >= 1) == ("rate_limited", True)
    assert producer.send(9).status_code == 429


def test_tokens_of_events_without_a_place_come_back(settings: LazySettings) -> None:
    settings.EVENTS_PER_MINUTE, settings.EVENTS_QUEUE_MAX = 4, 2
    producer = Producer()
    assert outcomes(producer.batch([event(number) for number in range(4)])) == [*["accepted"] * 2, *["rejected"] * 2]
    settings.EVENTS_QUEUE_MAX = 10
    assert outcomes(producer.batch([event(number) for number in range(2, 5)])) == [*["accepted"] * 2, "rejected"]


def test_a_share_of_the_bound_ends_a_batch_too(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX, settings.CALLER_QUEUE_SHARE = 10, 0.2
    found = Producer().batch([event(number) for number in range(4)])
    assert outcomes(found) == ["accepted", "accepted", "rejected", "rejected"]
    assert found[3]["code"] == "rate_limited"


def test_one_identity_twice_in_a_batch_is_accepted_once(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 2
    other = {"document": "other", "version": 1}
    events = [event(1), event(1), event(1, payload=other), event(2), event(3), event(3), event(3, payload=other)]
    producer = Producer()
    found = producer.batch(events)
    assert outcomes(found) == ["accepted", "replayed", "conflict", "accepted", "rejected", "rejected", "rejected"]
    assert found[0]["job"] == found[1]["job"]
    assert EventRecord.objects.count() == 2


def test_after_a_conflict_with_what_is_stored_the_right_payload_in_the_batch_is_a_replay() -> None:
    producer = Producer()
    producer.send(1)
    other = {"document": "other", "version": 1}
    found = producer.batch([event(1, payload=other), event(1), event(1, payload=other)])
    assert outcomes(found) == ["conflict", "replayed", "conflict"]


def test_a_foreign_producer_is_invalid_and_counted_so() -> None:
    Producer().send(1)
    other = Producer("other")
    found = other.batch([event(1), event(2), event(3, producer="own")])
    assert outcomes(found) == ["invalid", "invalid", "accepted"]
    assert found[0]["code"] == "forbidden"
    numbers = other.ledger()
    assert (numbers["offered"], numbers["accepted"], numbers["invalid"]) == (3, 1, 2)


def test_a_draining_queue_rejects_what_is_new() -> None:
    producer = Producer()
    producer.send(1)
    QueueState.objects.filter(queue="events").update(is_draining=True)
    found = producer.batch([event(1), event(2)])
    assert outcomes(found) == ["replayed", "rejected"]
    assert (found[1]["code"], found[1]["retry_after"]) == ("draining", 30)
