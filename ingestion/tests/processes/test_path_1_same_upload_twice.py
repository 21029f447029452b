"""Failure path 1: the same upload sent twice with one Idempotency-Key gives one version and one job."""

from threading import Barrier, Thread

import httpx
import pytest

from ingestion.models import DocumentVersion, Job
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader, policy
from ingestion.tests.processes.watching import assert_saved_once, eventually
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]

COPIES = 6


def at_the_same_moment(uploader: Uploader, addresses: list[str], content: bytes, key: str) -> list[httpx.Response]:
    """The answers to COPIES equal requests that were sent together, in turns to each address."""
    barrier, answers = Barrier(COPIES), list[httpx.Response]()

    def send(number: int) -> None:
        barrier.wait()
        answers.append(uploader.post_to(addresses[number % len(addresses)], "returns", content, key))

    threads = [Thread(target=send, args=(number,)) for number in range(COPIES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_copies_that_arrive_together_are_one_version_and_one_job_and_the_provider_is_paid_once(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    addresses = [crew.api("api-1"), crew.api("api-2")]
    answers = at_the_same_moment(uploader, addresses, policy("returns", sections=1), "key-1")
    assert [answer.status_code for answer in answers] == [202] * COPIES
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert len({answer.json()["job"]["id"] for answer in answers}) == 1
    assert len({answer.json()["version"]["number"] for answer in answers}) == 1
    job = Job.objects.get()
    assert DocumentVersion.objects.get().job_id == job.id

    crew.worker("worker")
    eventually("the job succeeds", lambda: Job.objects.get().state == "succeeded")
    assert_saved_once(job.id)
    paths = [call["path"] for call in simulator.ledger()["calls"]]
    assert paths.count("chat/completions") == 1


def test_the_second_answer_says_that_it_is_replayed_and_another_body_is_refused(uploader: Uploader) -> None:
    first = uploader.post("returns", policy("one"), "key-1")
    second = uploader.post("returns", policy("one"), "key-1")
    assert (first.status_code, second.status_code) == (202, 202)
    assert second["Idempotent-Replayed"] == "true"
    assert second.json()["job"]["id"] == first.json()["job"]["id"]
    other = uploader.post("returns", policy("two"), "key-1")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert DocumentVersion.objects.count() == Job.objects.count() == 1
