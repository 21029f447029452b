"""What is no event is refused with the field's name, counted once, and leaves nothing."""

import json
from typing import Any

import pytest

from ingestion.models import Checkpoint, EventRecord, Job, ProducerOwner
from ingestion.tests.eventing import Producer, depth, event

pytestmark = pytest.mark.django_db

TIMES: list[Any] = [
    "2026-11-27T09:00:00", "2026-11-27", "yesterday", "infinity", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-27T24:00:01Z",
    "2026-11-27T09:00:00+25:00", "20261127T090000Z", "2026-11-27 09:00:00Z", "٢٠٢٦-11-27T09:00:00Z", 1795770000, [], "",
]  # fmt: skip
NAMES: list[Any] = ["", "x" * 256, "x" * 10_000, "a\tb", "a\nb", "a\x7fb", "a\x9fb", 7, True, ["a"], {"a": 1}]
TYPES: list[Any] = [None, "", "answer.unknown", "ANSWER.RATED", 5, [], {}, "x" * 10_000]
PAYLOADS: list[Any] = [None, "text", 5, [], True]

FIELDS: list[tuple[str, Any]] = [
    *[(field, value) for field in ("producer", "event_id") for value in (None, *NAMES)],
    *[("partition", value) for value in NAMES],
    *[("type", value) for value in TYPES],
    *[("occurred_at", value) for value in (None, *TIMES)],
    *[("expires_at", value) for value in (*TIMES, "2020-01-01T00:00:00Z")],
    *[("payload", value) for value in PAYLOADS],
]


def assert_refused(response: Any, status: int, code: str, field: str | None = None) -> None:
    problem = response.json()
    assert (response.status_code, problem["code"], problem.get("field")) == (status, code, field), problem
    assert response["Content-Type"] == "application/problem+json"
    assert len(problem["detail"]) < 500
    for model in (EventRecord, Job, ProducerOwner, Checkpoint):
        assert not model._default_manager.exists(), model
    assert depth() == (0, 0, 0)


@pytest.mark.parametrize("field, value", FIELDS)
def test_a_wrong_field_is_named(field: str, value: Any) -> None:
    body = event()
    body[field] = value
    if value is None:
        del body[field]
    producer = Producer()
    assert_refused(producer.post(body), 422, "invalid_event", field)
    assert producer.ledger()["invalid"] == producer.ledger()["offered"] == 1


def raw(payload: str) -> bytes:
    """An event whose payload is this very text."""
    return json.dumps({**event(), "payload": "HERE"}).replace('"HERE"', payload).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "body",
    [
        b" ", b"{", b"null", b"[]", b'"event"', b"5", b"{} {}", b"\xff\xfe", b"\x00", b"{'producer': 1}",
        raw('{"a": NaN}'), raw('{"a": Infinity}'), raw('{"a": 1e400}'), raw('{"a": -1e999}'),
        raw('{"a": 1' + "0" * 400 + "}"), raw('{"a": 1, "a": 1}'), raw('{"a": "\\u0000"}'), raw('{"a\\u0000": 1}'),
        raw('{"a": "\\ud800"}'), raw('{"\\udfff": 1}'), raw('{"a": "\ud800"}'),
        raw('{"a": ' + "[" * 2_000 + "]" * 2_000 + "}"), raw('{"a": ' + '{"b": ' * 2_000 + "1" + "}" * 2_001),
        raw('{"a": ' + "[" * 100_000), raw('{"a": 01}'), raw('{"a": "\n"}'), raw('{"a": 1,}'),
        raw('{"a": 1').replace(b'"producer"', b'"type": "answer.rated", "producer"'),
    ],
)  # fmt: skip
def test_a_body_that_is_no_strict_json_object_is_refused(body: bytes) -> None:
    producer = Producer()
    assert_refused(producer.post(body), 400, "invalid_request")
    assert producer.ledger()["invalid"] == 1


def test_a_number_just_beyond_a_double_is_refused() -> None:
    response = Producer().post(raw('{"a": 2' + "0" * 308 + "}"))
    assert response.status_code in (400, 422)
    assert not EventRecord.objects.exists()


@pytest.mark.parametrize("size", [262_145, 10_000_000])
def test_a_body_that_is_too_large_is_refused_before_it_is_parsed(size: int) -> None:
    assert_refused(Producer().post(b"[" * size), 413, "too_large")


def test_a_payload_that_is_too_large_is_refused_by_its_name() -> None:
    assert_refused(Producer().send(payload={"text": "ü" * 40_000}), 413, "too_large", "payload")


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/xml", "", "multipart/form-data; boundary=x", "application/json; charset=latin-1"],
)
def test_another_media_type_is_refused(content_type: str) -> None:
    assert_refused(Producer().post(event(), content_type), 415, "unsupported_type")


def test_names_may_hold_any_script_and_slashes() -> None:
    producer = Producer()
    names: dict[str, Any] = {"producer": "Zürich/日本/🚚 eu", "event_id": "e 1/2?#%", "partition": "п" * 255}
    assert producer.send(**names).status_code == 202
    stored = EventRecord.objects.get()
    assert (stored.producer, stored.event_id, stored.partition) == tuple(names.values())
    found = producer.get("/v1/events", producer=names["producer"], event_id=names["event_id"])
    assert found.json()["event_id"] == names["event_id"]


@pytest.mark.parametrize(
    "time, stored",
    [
        ("2026-11-27T09:00:00Z", "2026-11-27T09:00:00+00:00"),
        ("2026-11-27t09:00:00.5z", "2026-11-27T09:00:00.500000+00:00"),
        ("2026-11-27T09:00:00.123456789+05:30", "2026-11-27T03:30:00.123456+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
    ],
)
def test_every_moment_that_rfc_3339_can_name_is_kept(time: str, stored: str) -> None:
    assert Producer().send(occurred_at=time).status_code == 202
    assert EventRecord.objects.get().occurred_at.isoformat() == stored
