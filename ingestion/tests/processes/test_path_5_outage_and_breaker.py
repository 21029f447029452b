"""Failure path 5: an outage opens the breaker; without it (constructed) the attempts run out; one is retried."""

import pytest

from ingestion.models import Job, JobOutcome, ProviderState
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import all_are, eventually, states
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]

JOBS = 8
MAX_ATTEMPTS = 3
FAILURES = 3
CONCURRENCY = 4


def openings() -> int:
    return ProviderState.objects.get().openings


def test_the_breaker_keeps_the_calls_of_an_outage_few_and_afterwards_every_job_succeeds(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    simulator.mode("outage")
    jobs = uploader.uploads(JOBS)
    crew.worker("worker", "--concurrency", str(CONCURRENCY), BREAKER_FAILURES=str(FAILURES))
    # It opened once and three probes found it still down.
    eventually("three probes have failed", lambda: openings() >= 4)
    simulator.mode("normal")
    reached = sum(call["status"] == 503 for call in simulator.ledger()["calls"])
    # Those that opened it, those already under way, and one probe an opening.
    assert reached <= FAILURES + CONCURRENCY + openings()
    assert uploader.queue()["provider"]["state"] != "paused"

    eventually("every job succeeds", lambda: all_are(jobs, "succeeded"))
    assert ProviderState.objects.get().state == "closed"
    charged = JobOutcome.objects.filter(outcome="retry").count()
    assert charged <= FAILURES
    assert sum(Job.objects.values_list("attempt", flat=True)) == JOBS + charged


def test_without_the_breaker_the_attempts_run_out_and_a_dead_letter_that_is_retried_succeeds(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    simulator.mode("outage")
    jobs = uploader.uploads(JOBS)
    changes = {"BREAKER_FAILURES": "1000000", "MAX_ATTEMPTS": str(MAX_ATTEMPTS)}
    Job.objects.update(max_attempts=MAX_ATTEMPTS)
    crew.worker("worker", "--concurrency", str(CONCURRENCY), **changes)
    eventually("all are dead letters", lambda: all_are(jobs, "dead_letter"))
    # Every try of every job reached the provider.
    assert simulator.ledger()["totals"]["by_status"] == {"503": JOBS * MAX_ATTEMPTS}
    assert uploader.queue()["queues"]["documents"]["dead_letters"] == JOBS
    assert uploader.job(jobs[0])["error"]["code"] == "provider_503"

    simulator.mode("normal")
    generation = Job.objects.get(id=jobs[0]).generation
    assert crew.command("retryjob", "retryjob", str(jobs[0])).exit_code() == 0
    eventually("it succeeds", lambda: Job.objects.get(id=jobs[0]).state == "succeeded")
    retried = Job.objects.get(id=jobs[0])
    assert retried.attempt == 1
    assert retried.generation == generation + 2
    assert states(jobs) == {"succeeded": 1, "dead_letter": JOBS - 1}
