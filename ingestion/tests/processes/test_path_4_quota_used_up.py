"""Failure path 4: with the provider's quota used up, jobs wait, spend no attempt and become no dead letter."""

from collections.abc import Iterator

import httpx
import pytest

from ingestion.models import Job
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import all_are, eventually, outcomes, states
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]

# `--mode quota` makes it ten times smaller: 60 a minute, one a second.
REQUESTS_A_MINUTE = 600
JOBS = 4


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with Simulator("--mode", "quota", "--chat-requests-per-minute", str(REQUESTS_A_MINUTE)) as running:
        yield running


def use_up(simulator: Simulator) -> None:
    """Somebody else with the same account has used what was left of the minute's requests."""
    body = {"model": "chat-small", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 5}
    status = 200
    while status == 200:
        answer = httpx.post(
            f"{simulator.base_url}/chat/completions", json=body, trust_env=False, timeout=30,
            headers={"Authorization": "Bearer other"},
        )  # fmt: skip
        status = answer.status_code
    assert status == 429, answer.text


def a_job_waits(simulator: Simulator) -> bool:
    """A job waits for the quota; until one does, nothing is left for it."""
    use_up(simulator)
    return Job.objects.filter(waiting_for="provider_quota", attempt=0).exists()


def test_jobs_wait_for_the_quota_without_spending_an_attempt_and_all_succeed(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    jobs = uploader.uploads(JOBS)
    use_up(simulator)
    # The product is told a hundred times what there is: it meets the provider's 429.
    crew.worker("worker", "--concurrency", "4", CHAT_REQUESTS_PER_MINUTE="6000")
    eventually("a job waits", lambda: a_job_waits(simulator))
    waiting = Job.objects.filter(waiting_for="provider_quota").values_list("id", flat=True)
    for job in waiting:
        shown = uploader.job(job)
        assert (shown["state"], shown["waiting_for"]) in [("queued", "provider_quota"), ("running", None),
                                                          ("succeeded", None)]  # fmt: skip
    assert 429 in [call["status"] for call in simulator.ledger()["calls"]]

    eventually("all succeed at the quota's pace", lambda: all_are(jobs, "succeeded"))
    assert "dead_letter" not in states(jobs)
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}
    said = {outcome for job in jobs for _, outcome in outcomes(job)}
    assert said == {"wait", "succeeded"}


def test_an_account_without_quota_pauses_the_lane_and_charges_nobody(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    simulator.fault("chat/completions", "insufficient_quota", 3)
    jobs = uploader.uploads(JOBS)
    crew.worker("worker")
    eventually("the lane is paused", lambda: uploader.queue()["provider"]["state"] == "paused")
    assert uploader.queue()["provider"]["reason"]
    eventually("a probe resumes it", lambda: all_are(jobs, "succeeded"))
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}
