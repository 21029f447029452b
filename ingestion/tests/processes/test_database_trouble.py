"""The database cuts connections, and connections stay few however many jobs run."""

import pytest
from django.db import connection

from ingestion.models import EventEffect, Job, JobOutcome
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.events import admit_ratings
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import (
    all_are,
    assert_ledgers_agree,
    assert_saved_once,
    eventually,
    sessions,
)
from ingestion.tests.simulated import Simulator
from ingestion.worker import POOL_MAX

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = 20
EVENTS = 1_000
ROUNDS = 5


def cut_sessions(name: str) -> int:
    """How many sessions of that name were ended by the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = %s", [name]
        )
        return int(cursor.fetchone()[0])


def finished() -> int:
    return Job.objects.filter(state="succeeded").count()


def test_a_worker_whose_connections_are_cut_survives_and_charges_no_job_for_it(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    jobs = uploader.uploads(JOBS, sections=3)
    worker = crew.worker("worker", "--concurrency", "4")
    cut = 0
    for number in range(ROUNDS):
        eventually("some jobs are done", lambda number=number: finished() >= number * JOBS // (ROUNDS + 1))  # type: ignore[misc]
        cut += cut_sessions("worker")
    assert cut >= ROUNDS
    eventually("every job succeeds", lambda: all_are(jobs, "succeeded"))
    assert worker.process.poll() is None
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}
    assert JobOutcome.objects.filter(outcome="succeeded").count() == JOBS
    for job in jobs:
        assert_saved_once(job)
    assert_ledgers_agree(simulator.ledger()["calls"])


def test_connections_stay_flat_over_a_thousand_jobs(crew: Crew, uploader: Uploader) -> None:
    admit_ratings(EVENTS)
    crew.worker("worker", "--concurrency", "16")
    seen: set[int] = set()

    def look() -> bool:
        now = sessions("worker")
        assert len(now) <= POOL_MAX + 1
        seen.update(pid for pid, _ in now)
        return Job.objects.filter(queue="events", state="succeeded").count() == EVENTS

    eventually("every event is applied", look)
    assert EventEffect.objects.count() == EVENTS
    # The pool's own, the listener's, and the few that looked whether the database is there.
    assert len(seen) <= 2 * (POOL_MAX + 1)
