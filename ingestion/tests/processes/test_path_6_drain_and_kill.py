"""Failure path 6: SIGTERM gives a long job back; after SIGKILL (constructed) it runs until its lease ends."""

import signal

import pytest

from ingestion.models import Chunk, Job, JobOutcome, Summary, Worker
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.holding import hang_in_third_batch, hangs_with_vectors_saved
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import (
    assert_ledgers_agree,
    assert_saved_once,
    calls_of,
    eventually,
    outcomes,
    vectors_of,
)
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]


def test_sigterm_gives_a_long_job_back_with_its_attempts_unchanged_and_its_saved_steps_kept(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    first = crew.worker("first", "--drain-seconds", "0.2")
    saved = hangs_with_vectors_saved(simulator, job)
    first.send(signal.SIGTERM)
    assert first.exit_code() == 0
    given_back = Job.objects.get(id=job)
    assert (given_back.state, given_back.attempt, given_back.generation) == ("queued", 0, 1)
    assert outcomes(job) == [(1, "give_back")]
    assert not Worker.objects.exists()
    chunks = set(Chunk.objects.values_list("id", flat=True))

    crew.worker("second")
    eventually("the job succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    assert_saved_once(job)
    assert Job.objects.get(id=job).attempt == 1
    assert set(saved) < set(vectors_of(job))
    assert set(Chunk.objects.values_list("id", flat=True)) == chunks
    assert [call.step for call in calls_of(job)].count("summarize") == 1
    assert_ledgers_agree(simulator.ledger()["calls"])


def test_a_drain_with_enough_time_lets_the_job_finish_and_claims_no_other(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    worker = crew.worker("worker", "--concurrency", "1", "--drain-seconds", "20", BREAKER_FAILURES="100")
    hangs_with_vectors_saved(simulator, job)
    other = uploader.upload("refunds")
    worker.send(signal.SIGTERM)
    assert worker.exit_code() == 0
    # The hung call ends by its timeout: a charged try that is settled before the worker ends.
    assert outcomes(job) == [(1, "retry")]
    assert Job.objects.get(id=other).generation == 0


def test_after_sigkill_the_job_stays_running_until_its_lease_ends_then_another_worker_finishes_it_once(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    first = crew.worker("first")
    second = crew.worker("second", "--queues", "documents")
    hangs_with_vectors_saved(simulator, job)
    killed = first if Job.objects.get(id=job).worker.split("-")[-2] == str(first.process.pid) else second
    killed.kill()

    # Nobody extends it any more, and nobody takes it before it ends.
    left = Job.objects.get(id=job)
    assert (left.state, left.generation) == ("running", 1)
    eventually("another worker takes it", lambda: Job.objects.filter(id=job, generation=2).exists())
    rescued = JobOutcome.objects.get(job_id=job, generation=1)
    assert left.lease_until is not None
    assert rescued.at >= left.lease_until
    eventually("the job succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    assert_saved_once(job)
    assert outcomes(job) == [(1, "lease_expired"), (2, "succeeded")]
    assert Summary.objects.count() == 1
    assert_ledgers_agree(simulator.ledger()["calls"])
