"""Failure path 7: with no worker running uploads are still accepted, and the queue's reading says what is wrong."""

import pytest

from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import all_are, eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]

DOCUMENTS = 3


def test_without_a_worker_uploads_are_accepted_the_oldest_age_grows_and_nothing_finishes(
    crew: Crew, uploader: Uploader
) -> None:
    jobs = uploader.uploads(DOCUMENTS)
    first = uploader.queue()["queues"]["documents"]
    assert (first["workers"], first["queued"], first["running"]) == (0, DOCUMENTS, 0)
    assert first["accepting"] is True

    def later() -> dict[str, float]:
        return dict(uploader.queue()["queues"]["documents"])

    eventually("the oldest age grows", lambda: later()["oldest_age_seconds"] >= first["oldest_age_seconds"] + 1)
    reading = later()
    assert (reading["workers"], reading["queued"], reading["pace_per_minute"]) == (0, DOCUMENTS, 0)
    assert reading["drain_seconds"] is None
    assert all_are(jobs, "queued")

    crew.worker("worker")
    eventually("a worker is counted", lambda: later()["workers"] == 1)
    eventually("it works the backlog off", lambda: all_are(jobs, "succeeded"))
    assert later()["queued"] == 0
