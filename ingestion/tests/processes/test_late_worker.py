"""A worker that is late, or can't prove its leases any more, changes nothing and gets out of the way."""

import signal
import time

import pytest
from django.db import connection, transaction

from ingestion.models import DocumentVersion, Job, JobOutcome
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.holding import hang_in_third_batch, hangs_with_vectors_saved
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import (
    assert_ledgers_agree,
    assert_saved_once,
    eventually,
    outcomes,
    vectors_of,
)
from ingestion.tests.simulated import Simulator

pytestmark = pytest.mark.django_db(transaction=True)

DRAIN_SECONDS = 25


def test_a_worker_that_was_stopped_beyond_its_lease_changes_nothing_when_it_goes_on(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    late = crew.worker("late")
    hangs_with_vectors_saved(simulator, job)
    late.send(signal.SIGSTOP)
    crew.worker("other")
    eventually("another worker finishes it", lambda: Job.objects.get(id=job).state == "succeeded")
    finished, vectors = Job.objects.get(id=job), vectors_of(job)
    published_at = DocumentVersion.objects.get(job_id=job).published_at

    late.send(signal.SIGCONT)
    eventually("it notices", lambda: "claim lost" in late.text() or "work dropped" in late.text())
    # It ends in good order, so nothing of it is under way any more when the rows are read.
    late.send(signal.SIGTERM)
    assert late.exit_code() == 0
    after = Job.objects.get(id=job)
    assert (after.state, after.generation, after.attempt) == ("succeeded", 2, 2)
    assert after.finished_at == finished.finished_at
    assert vectors_of(job) == vectors
    assert DocumentVersion.objects.get(job_id=job).published_at == published_at
    assert outcomes(job) == [(1, "lease_expired"), (2, "succeeded")]
    assert_saved_once(job)
    assert_ledgers_agree(simulator.ledger()["calls"])


def test_a_second_sigterm_ends_the_worker_at_once_and_still_gives_the_job_back(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    patient = {"DRAIN_SECONDS": str(DRAIN_SECONDS), "LEASE_SECONDS": "60", "PROVIDER_TIMEOUT_SECONDS": "50"}
    worker = crew.worker("worker", **patient)
    hangs_with_vectors_saved(simulator, job)
    worker.send(signal.SIGTERM)
    worker.says("worker drains")
    asked_at = time.monotonic()
    worker.send(signal.SIGTERM)
    assert worker.exit_code() == 0
    # Not a matter of speed: a worker that had not heard it would have waited out its drain.
    assert time.monotonic() - asked_at < DRAIN_SECONDS
    assert outcomes(job) == [(1, "give_back")]
    assert Job.objects.get(id=job).attempt == 0


def test_a_worker_whose_heartbeats_keep_failing_drops_its_work_and_exits_with_a_failure(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    worker = crew.worker("worker")
    hangs_with_vectors_saved(simulator, job)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE ingestion_job IN ACCESS EXCLUSIVE MODE")
        assert worker.exit_code() == 1
    assert "heartbeat failed" in worker.text()
    assert Job.objects.get(id=job).generation == 1

    crew.worker("other")
    eventually("another worker finishes it", lambda: Job.objects.get(id=job).state == "succeeded")
    assert_saved_once(job)
    assert JobOutcome.objects.filter(job_id=job, outcome="succeeded").count() == 1
