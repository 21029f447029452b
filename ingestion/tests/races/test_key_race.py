"""Copies of one request arrive at the same moment: one version, one job, one answer for all."""

from collections import Counter
from pathlib import Path
from threading import Barrier

import pytest
from django.db import transaction
from pytest_django import Settings

from ingestion import idempotency
from ingestion.models import DocumentVersion, IdempotencyKey, Job
from ingestion.tests.making import Uploader, depth, live_depth, make_caller, make_job, tokens_used
from ingestion.tests.races.meeting import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

RACERS = 12
# Each holds a connection while it waits for the others, and the pool has few.
UNGUARDED = 4


def test_all_copies_get_the_same_version_and_job_and_one_is_no_replay(files: Path) -> None:
    omar = Uploader()
    found = at_once(RACERS, lambda _: omar.upload(key="k-1"))
    assert {response.status_code for response in found} == {202}
    assert all(response.json() == found[0].json() for response in found)
    assert Counter(response.get("Idempotent-Replayed") for response in found) == {None: 1, "true": RACERS - 1}
    assert Job.objects.count() == DocumentVersion.objects.count() == IdempotencyKey.objects.count() == 1
    assert depth() == live_depth()
    assert tokens_used(omar.caller) == 1
    assert len([path for path in files.rglob("*") if path.is_file()]) == 1


def test_all_copies_are_answered_also_when_the_first_takes_the_last_place(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 2
    omar = Uploader()
    make_job(omar.caller)
    assert {response.status_code for response in at_once(RACERS, lambda _: omar.upload(key="k-1"))} == {202}
    assert depth() == live_depth() == (2, *live_depth()[1:])


def test_all_copies_are_answered_also_when_the_first_spends_the_callers_last_token() -> None:
    omar = Uploader(uploads_per_minute=1)
    assert {response.status_code for response in at_once(RACERS, lambda _: omar.upload(key="k-1"))} == {202}
    assert tokens_used(omar.caller) == 1


def test_of_two_requests_under_one_key_one_is_accepted_and_the_other_told_so() -> None:
    omar = Uploader()
    found = at_once(RACERS, lambda number: omar.upload(content=f"# Rules {number % 2}".encode(), key="k-1"))
    assert Counter(response.status_code for response in found) == {202: RACERS // 2, 422: RACERS // 2}
    assert Job.objects.count() == 1


def test_a_copy_waits_for_the_first_and_is_accepted_itself_when_that_rolls_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    omar = Uploader()
    failed: list[int] = []
    real = idempotency.keep

    def keep(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]  # handed through as they came
        if not failed:
            failed.append(1)
            raise RuntimeError("the first falls at the end")

    monkeypatch.setattr(idempotency, "keep", keep)
    found = at_once(RACERS, lambda _: omar.upload(key="k-1"))
    assert Counter(response.status_code for response in found) == {202: RACERS - 1, 500: 1}
    jobs = {response.json()["job"]["id"] for response in found if response.status_code == 202}
    assert len(jobs) == 1
    assert Job.objects.count() == 1


def test_without_the_unique_claim_several_are_first() -> None:
    """The control: looking for the key first and storing it afterwards lets several copies in."""
    caller = make_caller()
    looked = Barrier(UNGUARDED)

    def admit_unguarded(number: int) -> bool:
        with transaction.atomic():
            is_new = idempotency.find(caller, "k-1", "same") is None
            looked.wait(timeout=20)
            return is_new

    assert sum(at_once(UNGUARDED, admit_unguarded)) > 1


def test_versions_uploaded_at_once_get_each_number_once() -> None:
    omar, mei = Uploader("omar"), Uploader("mei")
    found = at_once(RACERS, lambda number: (omar, mei)[number % 2].upload(content=f"# Rules {number}".encode()))
    numbers = sorted(response.json()["version"]["number"] for response in found)
    assert numbers == list(range(1, RACERS + 1))


def test_of_many_that_know_the_same_latest_version_one_is_accepted() -> None:
    omar = Uploader()
    omar.accepted()
    found = at_once(
        8, lambda number: omar.upload(content=f"# Rules {number}".encode(), headers={"If-Match": '"1"'}).status_code
    )
    assert Counter(found) == {202: 1, 412: 7}
    assert DocumentVersion.objects.count() == 2
