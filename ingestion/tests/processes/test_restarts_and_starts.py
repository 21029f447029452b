"""Waiting work outlives every process, and a worker that could do nothing says so in one line."""

import signal
import socket

import pytest

from ingestion.models import Job
from ingestion.tests.processes.crew import Crew, Member
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.surroundings import database_url
from ingestion.tests.processes.watching import all_are, eventually, outcomes
from ingestion.tests.simulated import Simulator

pytestmark = pytest.mark.django_db(transaction=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def one_line_of(member: Member) -> str:
    """The only line that a command has written before it failed."""
    assert member.exit_code() != 0
    lines = [line for line in member.text().splitlines() if line.strip()]
    assert len(lines) == 1, member.text()
    return lines[0]


def test_a_job_that_waits_for_the_provider_comes_back_after_every_process_was_restarted(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    simulator.fault("chat/completions", "insufficient_quota")
    job = uploader.upload("returns")
    worker = crew.worker("worker", PROVIDER_PAUSE_SECONDS="2")
    eventually("the job waits", lambda: outcomes(job) == [(1, "wait")])
    worker.send(signal.SIGKILL)
    port = simulator.port
    simulator.stop()
    waiting = Job.objects.get(id=job)
    assert (waiting.state, waiting.waiting_for, waiting.attempt) == ("queued", "provider_quota", 0)

    simulator.start(port)
    crew.worker("worker", PROVIDER_PAUSE_SECONDS="2")
    eventually("it succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    assert (Job.objects.get(id=job).attempt, Job.objects.get(id=job).generation) == (1, 2)


def test_once_runs_all_that_is_ready_and_exits_with_0(crew: Crew, uploader: Uploader) -> None:
    jobs = uploader.uploads(3)
    assert crew.worker("worker", "--once").exit_code() == 0
    assert all_are(jobs, "succeeded")
    assert crew.worker("idle", "--once").exit_code() == 0


def test_a_worker_without_a_provider_fails_with_one_clear_line(crew: Crew) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    line = one_line_of(crew.command("worker", "runworker", PROVIDER_BASE_URL=nowhere))
    assert nowhere in line
    assert "PROVIDER_BASE_URL" in line


def test_a_worker_of_events_alone_needs_no_provider(crew: Crew) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    worker = crew.worker("worker", "--queues", "events", "--once", PROVIDER_BASE_URL=nowhere)
    assert worker.exit_code() == 0


@pytest.mark.parametrize("kind", ["no server", "no such database"])
def test_a_worker_without_a_database_fails_with_one_clear_line(crew: Crew, kind: str) -> None:
    nowhere = f"postgresql://postgres:secret@127.0.0.1:{free_port()}/larkfield"
    address = nowhere if kind == "no server" else database_url("worker", database="no_such_database")
    line = one_line_of(crew.command("worker", "runworker", DATABASE_URL=address))
    assert "DATABASE_URL" in line
    assert "secret" not in line
