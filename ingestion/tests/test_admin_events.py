"""The quarantine: an event gets another payload under its own identity, alone or with others, and never unseen."""

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.test import Client
from pytest_django import Settings

from ingestion.admin.patches import merged
from ingestion.admin.repairs import checked_object
from ingestion.models import EventRecord, Job
from ingestion.tests.operating import act, quarantined, signed_in, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return signed_in("operator", "operate")


def address(event: EventRecord) -> str:
    return f"/admin/ingestion/eventrecord/{event.pk}/change/"


def repair(client: Client, event: EventRecord, payload: str = '{"rating": 5}', generation: int = 1) -> str:
    return words(client.post(address(event), {"payload": payload, "generation": generation}, follow=True))


def payload(event: EventRecord) -> Any:
    event.refresh_from_db()
    return event.payload


def test_repairing_an_event_keeps_its_identity_and_queues_it_under_a_new_generation(operator: Client) -> None:
    event = quarantined()
    said = repair(operator, event)
    assert "queued again under its own identity" in said
    assert "successfully" not in said
    event.refresh_from_db()
    job = Job.objects.get(id=event.job_id)
    assert (event.event_id, event.payload, event.payload_hash) == ("e-1", {"rating": 5}, "0" * 64)
    assert (job.state, job.attempt, job.generation) == ("queued", 0, 2)
    assert LogEntry.objects.get().user.username == "operator"


def test_the_page_shows_the_error_and_says_what_saving_does(operator: Client) -> None:
    page = words(operator.get(address(quarantined(error_detail="payload.rating must be a whole number."))))
    assert "invalid_payload payload.rating must be a whole number." in page
    assert "Saving queues the event again at once" in page


def test_a_second_operator_is_told_that_the_event_is_queued_already(operator: Client) -> None:
    event = quarantined()
    repair(signed_in("kwame", "operate"), event, '{"rating": 4}')
    said = repair(operator, event)
    assert "This event is queued now: somebody else has repaired or retried it meanwhile" in said
    assert payload(event) == {"rating": 4}


def test_a_payload_that_somebody_repaired_in_vain_is_not_overwritten_unseen(operator: Client) -> None:
    event = quarantined()
    repair(signed_in("kwame", "operate"), event, '{"rating": 4}')
    Job.objects.filter(id=event.job_id).update(state="dead_letter", finished_at="2026-11-27T09:00:00Z")
    assert "Somebody else has repaired or retried p/e-1 meanwhile" in repair(operator, event)
    assert payload(event) == {"rating": 4}
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize("text", ["[1]", "7", "null", '{"a": NaN}', '{"a": "\\u0000"}', '{"\\ud800": 1}', "{"])
def test_what_is_no_object_that_can_be_kept_is_refused_in_the_form(operator: Client, text: str) -> None:
    event = quarantined()
    answer = operator.post(address(event), {"payload": text, "generation": 1})
    assert answer.status_code == 200
    assert "Please correct the error below" in words(answer)
    assert payload(event) == {"rating": "banana"}


def test_a_full_queue_leaves_a_repair_undone(operator: Client, settings: Settings) -> None:
    event = quarantined()
    settings.EVENTS_QUEUE_MAX_BYTES = 1
    assert "The queue is full or draining" in repair(operator, event)
    assert payload(event) == {"rating": "banana"}
    assert Job.objects.get(id=event.job_id).state == "dead_letter"


def test_an_event_that_was_applied_has_no_form(operator: Client) -> None:
    event = quarantined(state="succeeded")
    page = operator.get(address(event))
    assert b"<textarea" not in page.content
    assert b'value="Save"' not in page.content


def test_many_are_repaired_alike_after_their_changes_were_shown(operator: Client) -> None:
    events = [quarantined(f"e-{number}") for number in range(3)]
    keys = [event.pk for event in events]
    assert "Keys to change in each payload" in act(operator, "eventrecord", "repair", *keys, confirmed=False)
    patch = '{"rating": 5, "note": null}'
    shown = act(operator, "eventrecord", "repair", *keys, confirmed=False, patch=patch)
    assert '{ "rating": "banana" } { "rating": 5 }' in shown
    assert "Yes, repair 3" in shown
    assert {json.dumps(payload(event)) for event in events} == {'{"rating": "banana"}'}
    assert "3 repaired and queued again" in act(operator, "eventrecord", "repair", *keys, patch=patch)
    assert [payload(event) for event in events] == [{"rating": 5}] * 3
    assert set(Job.objects.values_list("state", "generation")) == {("queued", 2)}


def test_of_many_those_without_room_keep_their_payload(operator: Client, settings: Settings) -> None:
    settings.EVENTS_QUEUE_MAX = 8
    events = [quarantined(f"e-{number}") for number in range(3)]
    said = act(operator, "eventrecord", "repair", *[event.pk for event in events], patch='{"rating": 5}')
    assert "2 repaired" in said
    assert "1 stay as they are, payload too" in said
    assert [payload(event)["rating"] for event in events] == [5, 5, "banana"]


def test_of_many_one_that_somebody_repaired_meanwhile_is_left(operator: Client) -> None:
    first, second = quarantined("e-1"), quarantined("e-2")
    list_address = "/admin/ingestion/eventrecord/"
    sent: dict[str, Any] = {"action": "repair", "_selected_action": [str(first.pk)], "patch": '{"rating": 5}'}
    sent["chosen"] = f"{first.pk}:1,{second.pk}:1"
    operator.post(list_address, sent)
    repair(signed_in("kwame", "operate"), second, '{"rating": 4}')
    said = words(operator.post(list_address, {**sent, "confirmed": "yes"}, follow=True))
    assert "1 repaired" in said
    assert "the job of p/e-2 is queued. Somebody else may have been faster" in said
    assert (payload(first), payload(second)) == ({"rating": 5}, {"rating": 4})


@pytest.mark.parametrize("patch", ["", "[]", "{}", '{"a": "\\u0000"}', "{"])
def test_a_patch_that_is_none_changes_nothing_also_when_confirmed(operator: Client, patch: str) -> None:
    event = quarantined()
    sent = {"action": "repair", "_selected_action": [str(event.pk)], "chosen": f"{event.pk}:1", "patch": patch}
    answer = operator.post("/admin/ingestion/eventrecord/", {**sent, "confirmed": "yes"})
    assert answer.status_code == 200
    assert "errornote" in answer.content.decode()
    assert payload(event) == {"rating": "banana"}


def test_a_merge_patch_works_as_its_standard_says() -> None:
    target = {"a": "b", "c": {"d": "e", "f": "g"}, "h": [1]}
    assert merged(target, {"a": "z", "c": {"f": None}, "h": {"i": 1}, "x": None}) == {
        "a": "z", "c": {"d": "e"}, "h": {"i": 1},
    }  # fmt: skip
    assert target == {"a": "b", "c": {"d": "e", "f": "g"}, "h": [1]}


def test_texts_that_only_look_like_nan_are_kept() -> None:
    assert checked_object({"name": "NaN bread"}) == {"name": "NaN bread"}
    with pytest.raises(ValidationError):
        checked_object({"name": float("inf")})
