"""What a person says of an answer becomes events, once for each answer, document and person."""

from typing import Any

import pytest
from django.conf import LazySettings

from assistant.feedback import Rating
from assistant.tests.browser import shelves
from ingestion.events import ledger
from ingestion.models import EventRecord, Job, QueueState
from ingestion.tests.making import Uploader, problem

pytestmark = pytest.mark.django_db

SAID: dict[str, Any] = {
    "question": "How long may a phone be returned?",
    "answer": "Thirty days [1], phones 14 [2].",
    "cited": [{"document": "returns", "version": 1}, {"document": "phones", "version": 1}],
    "helpful": True,
}


@pytest.fixture
def person() -> Uploader:
    for slug in ("returns", "phones"):
        shelves.add_version(slug)
    return Uploader("mei", "ask")


def say(person: Uploader, **changes: Any) -> Any:
    return person.client.post("/feedback", {**SAID, **changes}, content_type="application/json")


def test_a_rating_is_an_event_for_each_cited_document(person: Uploader) -> None:
    answer = say(person)
    assert (answer.status_code, answer.json()) == (202, {"rated": True, "known": False})
    events = EventRecord.objects.order_by("payload__document")
    assert [(e.type, e.payload["document"], e.payload["version"], e.payload["rating"]) for e in events] == [
        ("answer.rated", "phones", 1, 5),
        ("answer.rated", "returns", 1, 5),
    ]
    assert QueueState.objects.get(queue="events").jobs == 2, "they take places like every event"


def test_the_same_rating_again_is_a_replay(person: Uploader) -> None:
    say(person)
    # The order of the citations and a document that is cited twice make no other answer.
    again = say(person, cited=[*reversed(SAID["cited"]), SAID["cited"][0]])
    assert (again.status_code, again.headers["Idempotent-Replayed"], again.json()["known"]) == (202, "true", True)
    assert EventRecord.objects.count() == 2
    found = ledger.read(person.caller.pk)
    assert (found["accepted"], found["replayed"], found["balanced"]) == (2, 2, True)


def test_another_mind_about_the_same_answer_keeps_the_first_rating(person: Uploader) -> None:
    say(person)
    refused = problem(say(person, helpful=False), 409, "event_conflict")
    assert refused["detail"] == "You rated this answer before; the first rating is kept."
    assert {event.payload["rating"] for event in EventRecord.objects.all()} == {5}


def test_two_people_rate_the_same_answer_each_for_themselves(person: Uploader) -> None:
    say(person)
    assert say(Uploader("kwame", "ask"), helpful=False).status_code == 202
    assert EventRecord.objects.count() == 4
    assert EventRecord.objects.values("producer").distinct().count() == 2


def test_a_full_queue_says_when_to_come_back_and_the_same_rating_is_taken_then(
    person: Uploader, settings: LazySettings
) -> None:
    settings.EVENTS_QUEUE_MAX = 1
    refused = say(person)
    problem(refused, 503, "queue_full")
    assert int(refused.headers["Retry-After"]) >= 1
    assert EventRecord.objects.count() == 1, "the bound had one place"
    settings.EVENTS_QUEUE_MAX = 10
    assert say(person).status_code == 202
    assert (EventRecord.objects.count(), Job.objects.filter(queue="events").count()) == (2, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"helpful": "yes"}, {"question": ""}, {"answer": None}, {"cited": []}, {"cited": [{"document": "returns"}]},
        {"cited": [{"document": "No slug", "version": 1}]}, {"cited": [{"document": "returns", "version": 0}]},
        {"cited": [SAID] * 21},
    ],
)  # fmt: skip
def test_what_is_no_rating_is_refused(person: Uploader, changes: dict[str, Any]) -> None:
    problem(say(person, **changes), 400, "invalid_request")
    assert not EventRecord.objects.exists()


def test_who_may_not_ask_may_not_rate(db: None) -> None:
    problem(say(Uploader("omar", "upload")), 403, "forbidden")


def test_an_answer_is_another_one_when_a_version_changed_and_none_by_the_order_of_its_citations() -> None:
    both = [("phones", 1), ("returns", 1)]
    assert Rating("Q", "A", both, True).answer_id == Rating("Q", "A", both[::-1], True).answer_id
    rating = Rating("Q", "A", [("returns", 1)], True)
    assert rating.answer_id == Rating("Q", "A", [("returns", 1)], False).answer_id
    assert rating.answer_id != Rating("Q", "A", [("returns", 2)], True).answer_id
