"""GET of events, the ledger and a document's usage: who sees what, in which form."""

import pytest

from ingestion.models import Document
from ingestion.tests.eventing import Producer, document, event, work

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_event_tells_its_state_and_its_error() -> None:
    document()
    producer = Producer()
    producer.batch([event(1), event(2, type="answer.rated", payload={"answer_id": "a", "document": "returns"})])
    before = producer.get("/v1/events/helpdesk-eu/e-1").json()
    assert set(before) == {"producer", "event_id", "type", "state", "received_at", "job", "error"}
    assert (before["state"], before["error"], before["job"]["state"]) == ("queued", None, "queued")
    work()
    assert producer.state_of(1) == "completed"
    poison = producer.get("/v1/events/helpdesk-eu/e-2").json()
    assert (poison["state"], poison["error"]["code"]) == ("quarantined", "invalid_payload")
    assert "payload.rating" in poison["error"]["detail"]


def test_only_the_sender_and_an_operator_see_an_event() -> None:
    owner, other, operator = Producer(), Producer("other"), Producer("operator", "operate")
    owner.send()
    path = "/v1/events/helpdesk-eu/e-1"
    assert [caller.get(path).status_code for caller in (owner, other, operator)] == [200, 404, 200]
    assert other.get("/v1/events", producer="helpdesk-eu", event_id="e-1").status_code == 404


def test_what_is_not_there_is_not_found() -> None:
    producer = Producer()
    assert producer.get("/v1/events/nobody/nothing").status_code == 404
    assert producer.get("/v1/events", producer="a\x00", event_id="b").status_code == 404
    assert producer.get("/v1/events", producer="x" * 5_000, event_id="b").status_code == 404
    assert producer.get("/v1/events", producer="a").status_code == 400


def test_names_with_slashes_are_found_by_query() -> None:
    producer = Producer()
    producer.send(producer="eu/zurich", event_id="2026/1")
    found = producer.get("/v1/events", producer="eu/zurich", event_id="2026/1").json()
    assert (found["producer"], found["event_id"], found["state"]) == ("eu/zurich", "2026/1", "queued")


def test_usage_adds_up_by_day() -> None:
    document("returns", versions=2)
    document("refunds")
    producer = Producer()
    rated = {"answer_id": "a", "document": "returns"}
    ticket = {"ticket_id": "t", "documents": ["refunds", "returns"], "minutes": 9}
    producer.batch(
        [
            event(1),
            event(2, payload={"document": "returns", "version": 2}),
            event(3, occurred_at="2026-11-27T23:30:00-05:00"),
            event(4, type="answer.rated", payload={**rated, "rating": 4}),
            event(5, type="answer.rated", payload={**rated, "rating": 5.0, "version": 2}),
            event(6, type="answer.cited", payload={**rated, "version": 1, "position": 0}),
            event(7, type="ticket.resolved", payload=ticket),
        ]
    )  # fmt: skip
    work()
    usage = producer.get("/v1/documents/returns/usage").json()
    assert usage["totals"] == {"views": 3, "citations": 1, "ratings": 2, "rating_sum": 9, "resolved": 1}
    assert usage["days"] == [
        {"date": "2026-11-27", "views": 2, "citations": 1, "ratings": 2, "rating_sum": 9, "resolved": 1},
        {"date": "2026-11-28", "views": 1, "citations": 0, "ratings": 0, "rating_sum": 0, "resolved": 0},
    ]
    assert producer.get("/v1/documents/refunds/usage").json()["totals"]["resolved"] == 1


def test_usage_of_a_document_that_is_not_there_is_not_found() -> None:
    producer = Producer()
    gone = document()
    assert producer.get("/v1/documents/returns/usage").json()["days"] == []
    Document.objects.filter(pk=gone.pk).update(deleted_at="2026-11-27T09:00:00Z")
    for slug in ("returns", "unknown", "a%00b"):
        assert producer.get(f"/v1/documents/{slug}/usage").status_code == 404
