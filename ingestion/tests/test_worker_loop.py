"""The coordinator's own promises: it rescues without a free slot, waits without a write, and lives without an ear."""

import logging
import threading

import psycopg
import pytest
from django.db import OperationalError, connection
from pytest_django import Settings

from ingestion import jobs
from ingestion.models import Job, ProviderLane
from ingestion.queue import sweeping
from ingestion.tests.making import Uploader, claim_one, claims, job, make_caller, make_job, run_out
from ingestion.tests.processes.watching import eventually
from ingestion.worker import loop as loop_module
from ingestion.worker.listening import Listener
from ingestion.worker.loop import Loop

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_whose_slots_are_all_taken_still_rescues_what_others_lost() -> None:
    made = make_job(make_caller())
    run_out(claim_one("mei"))
    loop = Loop(["documents"], 1, 0.0)
    loop._busy = 1
    assert loop._tick() == 0
    assert job(made).state == "queued"


def test_no_job_of_any_queue_is_a_rescue() -> None:
    assert set(jobs.KINDS) == {"ingest_version", "reembed_version", "apply_event"}


def row_versions() -> list[str]:
    """Who wrote each job last, by PostgreSQL's own count: any write changes it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin::text FROM ingestion_job ORDER BY id")
        return [version for (version,) in cursor.fetchall()]


def test_jobs_behind_a_spent_lane_are_neither_claimed_nor_written(settings: Settings) -> None:
    settings.QUESTION_SHARE = 0.0
    settings.CHAT_REQUESTS_PER_MINUTE = 1
    ProviderLane.objects.create(name="chat", limit_per_minute=1, level=0)
    caller = make_caller()
    for _ in range(20):
        make_job(caller)
    before = row_versions()
    loop = Loop(["documents"], 16, 0.0)
    assert [loop._tick() for _ in range(3)] == [0, 0, 0]
    assert row_versions() == before
    # They were ready all the time.
    assert len(claims()) == 20


def test_a_worker_that_meets_no_database_rests_before_it_looks_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def rescue() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(sweeping, "rescue", rescue)
    loop = Loop(["documents"], 1, 0.0)
    with caplog.at_level(logging.WARNING, "ingestion.worker"):
        assert loop._tick() == 0
    assert "the database does not answer" in caplog.text
    assert loop._pause_seconds() > loop_module.PAUSE_AFTER_FAILURE_SECONDS / 2


@pytest.mark.usefixtures("files", "simulator")
def test_a_worker_that_hears_no_announcement_finds_the_work_by_its_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(_: Listener) -> None:
        raise psycopg.OperationalError("a pooler passes no notification on")

    monkeypatch.setattr(Listener, "_listen", deaf)
    monkeypatch.setattr(loop_module, "POLL_SECONDS", 0.05)
    omar = Uploader()
    loop = Loop(["documents"], 1, 5.0)
    ended: list[int] = []
    thread = threading.Thread(target=lambda: ended.append(loop.run()))
    thread.start()
    try:
        omar.accepted()
        eventually("the job is done", lambda: Job.objects.filter(state="succeeded").exists())
    finally:
        loop.stopping.ask()
        thread.join(timeout=30)
    assert ended == [0]
