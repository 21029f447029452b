"""Failure path 8: the connections of all API processes and workers together stay below the database's limit."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.conf import settings
from django.db import connection

from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.holding import unanswered
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import all_are, eventually, sessions
from ingestion.tests.simulated import Simulator
from ingestion.worker import POOL_MAX

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]

CONCURRENCY = 32
# The pool, and the listener's own.
WORKER_MAX = POOL_MAX + 1
# The largest configuration that the project describes: two API processes and eight workers.
API_PROCESSES = 2
WORKERS = 8
RESERVED = 10


def max_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        return int(cursor.fetchone()[0])


def test_a_worker_whose_jobs_all_wait_for_the_provider_uses_four_connections_and_keeps_none_in_use(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    simulator.fault("chat/completions", "timeout", CONCURRENCY)
    jobs = uploader.uploads(CONCURRENCY)
    patient = {"LEASE_SECONDS": "60", "PROVIDER_TIMEOUT_SECONDS": "50"}
    worker = crew.worker("worker", "--concurrency", str(CONCURRENCY), **patient)
    eventually("all jobs wait", lambda: unanswered(simulator, "chat/completions") == CONCURRENCY)
    assert all_are(jobs, "running")
    assert 1 <= len(sessions("worker")) <= WORKER_MAX

    def none_is_in_use() -> bool:
        """A heartbeat is a few milliseconds of work; between two of them every session is idle."""
        return all(state == "idle" for _, state in sessions("worker"))

    eventually("no connection is in use", none_is_in_use)
    assert not any("transaction" in state for _, state in sessions("worker"))
    worker.kill()


def test_the_sum_over_the_largest_configuration_is_below_the_limit_and_no_process_passes_its_part(
    crew: Crew, uploader: Uploader
) -> None:
    most = API_PROCESSES * settings.DATABASE_POOL_MAX + WORKERS * WORKER_MAX + RESERVED
    assert most < max_connections()

    api = crew.api("api", processes=API_PROCESSES, threads=16)
    names = [f"worker-{number}" for number in range(2)]
    for name in names:
        crew.worker(name, "--concurrency", "16")
    jobs = uploader.uploads(40)
    seen = dict.fromkeys(["api", *names], 0)

    def look() -> bool:
        for name in seen:
            seen[name] = max(seen[name], len(sessions(name)))
        return all_are(jobs, "succeeded")

    def read(number: int) -> int:
        headers = uploader.headers()
        return httpx.get(f"{api}/v1/jobs/{jobs[number]}", headers=headers, trust_env=False, timeout=30).status_code

    with ThreadPoolExecutor(16) as readers:
        answers = [readers.submit(read, number % len(jobs)) for number in range(200)]
        eventually("the jobs succeed", look)
        assert {answer.result() for answer in answers} == {200}
    assert seen["api"] <= API_PROCESSES * settings.DATABASE_POOL_MAX
    assert all(1 <= seen[name] <= WORKER_MAX for name in names)
