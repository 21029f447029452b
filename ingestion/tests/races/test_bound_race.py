"""Many uploads meet at the last free place: one is accepted, whoever else comes, fails or rolls back."""

from collections import Counter
from threading import Barrier

import pytest
from django.db import transaction
from django.db.models import F
from pytest_django import Settings

from ingestion import admission
from ingestion.models import Document, DocumentVersion, IdempotencyKey, Job, QueueState
from ingestion.queue import controlling, settling
from ingestion.queue.claims import Claim
from ingestion.queue.controlling import QueueFull
from ingestion.tests.making import Uploader, claim_one, claims, depth, live_depth, make_caller, make_job
from ingestion.tests.races.meeting import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

RACERS = 16
# Each holds a connection while it waits for the others, and the pool has few.
UNGUARDED = 4


@pytest.fixture
def omar(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    settings.DOCUMENTS_QUEUE_MAX = 3
    omar = Uploader()
    for _ in range(2):
        make_job(omar.caller)
    # The look before the transaction would turn most of them away: here all meet at the exact check.
    monkeypatch.setattr(admission, "refuse_early", lambda *_: None)
    return omar


def test_sixteen_racers_for_one_free_place_are_one_accepted_and_fifteen_refused(omar: Uploader) -> None:
    found = at_once(RACERS, lambda number: omar.upload(f"d-{number}", key=f"k-{number}").status_code)
    assert Counter(found) == {202: 1, 503: RACERS - 1}
    assert depth() == live_depth()
    assert depth()[0] == 3
    assert Document.objects.count() == DocumentVersion.objects.count() == IdempotencyKey.objects.count() == 1


def test_also_when_the_one_that_took_the_place_rolls_back(omar: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[int] = []
    real = controlling.take_place

    def take_place(queue: str, units: int, size: int) -> int:
        found = real(queue, units, size)
        if not failed:
            failed.append(1)
            raise RuntimeError("it fell after it was admitted")
        return found

    monkeypatch.setattr(controlling, "take_place", take_place)
    found = at_once(RACERS, lambda number: omar.upload(f"d-{number}").status_code)
    assert Counter(found) == {202: 1, 500: 1, 503: RACERS - 2}
    assert depth() == live_depth()
    assert Document.objects.count() == 1


def test_without_the_guard_several_are_admitted() -> None:
    """The control: counting first and inserting afterwards lets more in than there are places."""
    caller = make_caller()
    counted = Barrier(UNGUARDED)

    def admit_unguarded(_: int) -> bool:
        with transaction.atomic():
            has_place = Job.objects.filter(state="queued").count() < 1
            counted.wait(timeout=20)
            if has_place:
                Job.objects.create(
                    queue="documents", kind="ingest_version", caller=caller, max_attempts=5, units=1, bytes=1
                )
            return has_place

    assert sum(at_once(UNGUARDED, admit_unguarded)) > 1
    assert Job.objects.count() > 1


def test_uploads_and_settlements_meet_and_the_depth_stays_the_number_of_live_rows(
    omar: Uploader, settings: Settings
) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 10
    for _ in range(6):
        make_job(omar.caller)
    held: list[Claim] = claims(6)
    deepest: list[int] = []

    def work(number: int) -> int:
        if number < len(held):
            settling.finish(held[number], "succeeded")
            return 0
        status = int(omar.upload(f"d-{number}").status_code)
        deepest.append(QueueState.objects.values_list("jobs", flat=True).get(queue="documents"))
        return status

    found = Counter(at_once(RACERS, work))
    assert found.keys() <= {0, 202, 503}
    assert found[202] >= 2
    assert max(deepest) <= 10
    assert depth() == live_depth()


def test_two_retries_of_one_dead_letter_take_one_place() -> None:
    omar = Uploader("omar", "upload", "operate")
    made = make_job(omar.caller)
    settling.finish(claim_one(), "dead_letter", code="odd", detail="odd")
    found = at_once(8, lambda _: omar.client.post(f"/v1/jobs/{made}/retry").status_code)
    assert Counter(found) == {202: 1, 409: 7}
    assert depth() == live_depth()
    assert Job.objects.get().generation == 2


def test_dead_letters_that_are_retried_race_uploads_for_the_last_place(omar: Uploader) -> None:
    operator = Uploader("kwame", "operate")
    dead = claim_one()
    settling.finish(dead, "dead_letter", code="odd", detail="odd")
    make_job(omar.caller)

    def work(number: int) -> int:
        if number == 0:
            return int(operator.client.post(f"/v1/jobs/{dead.id}/retry").status_code)
        return int(omar.upload(f"d-{number}").status_code)

    found = Counter(at_once(RACERS, work))
    assert found == {202: 1, 503: RACERS - 1}
    assert depth() == live_depth()


def test_a_place_that_cannot_be_taken_undoes_the_job_with_it(settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    caller = make_caller()
    make_job(caller)
    with pytest.raises(QueueFull):
        make_job(caller)
    assert Job.objects.count() == 1
    assert QueueState.objects.filter(queue="documents", jobs=F("jobs")).exists()
    assert depth() == live_depth()
