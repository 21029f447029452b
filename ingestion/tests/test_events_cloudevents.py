"""CloudEvents 1.0 as the official SDK sends them, in structured and binary mode, and by hand where it can't."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings.http import HTTPMessage, to_binary, to_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from ingestion.models import EventRecord
from ingestion.tests.eventing import JSON, Producer, event

pytestmark = pytest.mark.django_db

STRUCTURED = "application/cloudevents+json"
DATA = {"document": "returns", "version": 1, "note": 'grüezi "%20" 日本'}


def cloud_event(**attributes: Any) -> CloudEvent:
    made = {
        "id": "ce-1", "source": "/helpdesk/zürich 100%", "type": "document.viewed", "specversion": "1.0",
        "time": datetime(2026, 11, 27, 9, tzinfo=UTC), "datacontenttype": JSON, **attributes,
    }  # fmt: skip
    return CloudEvent(attributes=made, data=DATA)


def deliver(producer: Producer, message: HTTPMessage) -> Any:
    headers = {name: value for name, value in message.headers.items() if name.lower() != "content-type"}
    content_type = next(value for name, value in message.headers.items() if name.lower() == "content-type")
    return producer.post(message.body, content_type, headers=headers)


@pytest.mark.parametrize("mode", [to_structured, to_binary])
def test_an_event_of_the_sdk_arrives_whole(mode: Any) -> None:
    made = cloud_event(partitionkey="vip ü", expiresat="2099-01-01T00:00:00Z", subject="ignored")
    response = deliver(Producer(), mode(made, JSONFormat()))
    assert response.status_code == 202, response.content
    stored = EventRecord.objects.select_related("job").get()
    assert (stored.producer, stored.event_id) == ("/helpdesk/zürich 100%", "ce-1")
    assert (stored.type, stored.partition, stored.payload) == ("document.viewed", "vip ü", DATA)
    assert stored.occurred_at == datetime(2026, 11, 27, 9, tzinfo=UTC)
    assert stored.job.expires_at == datetime(2099, 1, 1, tzinfo=UTC)


def test_the_modes_and_the_plain_form_are_one_event() -> None:
    producer, made = Producer(), cloud_event()
    first = deliver(producer, to_structured(made, JSONFormat()))
    second = deliver(producer, to_binary(made, JSONFormat()))
    third = producer.send(producer="/helpdesk/zürich 100%", event_id="ce-1", payload=DATA)
    assert [response.status_code for response in (first, second, third)] == [202, 202, 202]
    assert second["Idempotent-Replayed"] == third["Idempotent-Replayed"] == "true"


def structured(**changes: Any) -> dict[str, Any]:
    made = {"specversion": "1.0", "id": "1", "source": "s", "type": "document.viewed", "data": {}, **changes}
    return {name: value for name, value in made.items() if value is not ...}


def test_an_event_without_a_time_happened_when_it_was_received() -> None:
    Producer().post(structured(time=None, partitionkey=None), STRUCTURED + "; charset=UTF-8")
    stored = EventRecord.objects.get()
    assert stored.occurred_at == stored.received_at or abs(stored.occurred_at - stored.received_at).seconds < 1
    assert stored.partition == "s"


@pytest.mark.parametrize(
    "changes, field",
    [
        ({"specversion": "0.3"}, "specversion"), ({"specversion": ...}, "specversion"),
        ({"specversion": 1.0}, "specversion"),
        ({"id": ...}, "id"), ({"id": ""}, "id"), ({"source": ...}, "source"), ({"source": 5}, "source"),
        ({"type": "com.example.unknown"}, "type"), ({"time": "2026-11-27T09:00:00"}, "time"),
        ({"time": 5}, "time"), ({"partitionkey": ""}, "partitionkey"), ({"partitionkey": 5}, "partitionkey"),
        ({"expiresat": "2020-01-01T00:00:00Z"}, "expires_at"), ({"expiresat": "soon"}, "expiresat"),
        ({"data": ...}, "data"), ({"data": "text"}, "data"), ({"data": [1]}, "data"),
        ({"data": ..., "data_base64": "e30="}, "data_base64"), ({"datacontenttype": "text/xml"}, "datacontenttype"),
        ({"datacontenttype": 5}, "datacontenttype"),
    ],
)  # fmt: skip
def test_a_wrong_attribute_is_named_as_the_sender_names_it(changes: dict[str, Any], field: str) -> None:
    response = Producer().post(structured(**changes), STRUCTURED)
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (422, "invalid_event", field)
    assert not EventRecord.objects.exists()


HEADERS = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "document.viewed"}


@pytest.mark.parametrize(
    "changes, field",
    [
        ({"ce-specversion": "2.0"}, "specversion"), ({"ce-specversion": ""}, "specversion"), ({"ce-id": "%00"}, "id"),
        ({"ce-id": "%ff"}, "ce-id"), ({"ce-source": "x" * 10_000}, "source"), ({"ce-time": "noon"}, "time"),
    ],
)  # fmt: skip
def test_a_wrong_header_is_named(changes: dict[str, str], field: str) -> None:
    response = Producer().post({}, headers={**HEADERS, **changes})
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (422, "invalid_event", field)
    assert not EventRecord.objects.exists()


def test_a_header_may_be_quoted_and_percent_encoded() -> None:
    assert Producer().post({}, headers={**HEADERS, "ce-id": '"a \\"b\\" %C3%BC"'}).status_code == 202
    assert EventRecord.objects.get().event_id == 'a "b" ü'


def test_a_body_in_binary_mode_is_bad_json_or_another_type() -> None:
    producer = Producer()
    assert producer.post(b"{", headers=HEADERS).status_code == 400
    assert producer.post(b"x", "text/plain", headers=HEADERS).status_code == 415
    assert producer.post(b"[]", STRUCTURED).status_code == 400
    assert not EventRecord.objects.exists()


def test_a_batch_of_cloudevents_has_an_outcome_for_each() -> None:
    events = [structured(), structured(id="2", type="unknown"), structured(id="3"), 5]
    response = Producer().post(
        json.dumps(events).encode(), "application/cloudevents-batch+json", path="/v1/events/batch"
    )
    outcomes = [(one["outcome"], one.get("field")) for one in response.json()["outcomes"]]
    assert outcomes == [("accepted", None), ("invalid", "type"), ("accepted", None), ("invalid", None)]


def test_a_plain_event_with_attributes_of_cloudevents_in_its_body_is_plain() -> None:
    assert Producer().post({**event(), "specversion": "1.0", "id": 5}).status_code == 202
