"""The sweeps: rescue of lost leases, deadlines, waits without end. One odd row stops no other."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from pytest_django import Settings

from ingestion.models import JobOutcome
from ingestion.queue import settling, sweeping
from ingestion.tests.making import (
    change_job,
    claim_one,
    claims,
    depth,
    job,
    live_depth,
    make_caller,
    make_job,
    run_out,
)

pytestmark = pytest.mark.django_db


def poison(job_id: object) -> None:
    """From now on no statement can change this row, as a broken trigger or constraint would have it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            CREATE OR REPLACE FUNCTION refuse_the_row() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF OLD.id = '{job_id}' THEN RAISE unique_violation USING MESSAGE = 'this row is poisoned'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER refuse_the_row BEFORE UPDATE ON ingestion_job
            FOR EACH ROW EXECUTE FUNCTION refuse_the_row();
            """
        )


def test_only_jobs_whose_lease_has_run_out_are_rescued() -> None:
    caller = make_caller()
    made = [make_job(caller) for _ in range(3)]
    lost, alive = claim_one("lost"), claim_one("alive")
    run_out(lost)
    assert sweeping.rescue() == [(made[0], "queued", "lost")]
    assert job(alive.id).state == "running"
    assert job(lost.id).ready_at is not None
    assert claim_one().id == lost.id


def test_a_job_whose_lease_is_alive_is_never_rescued_however_long_it_runs() -> None:
    made = make_job(make_caller())
    found = claim_one()
    change_job(made, started_at=datetime.now(UTC) - timedelta(days=3))
    settling.extend([found])
    assert sweeping.rescue() == []


def test_with_the_budget_spent_a_lost_lease_makes_a_dead_letter() -> None:
    made = make_job(make_caller(), units=7, bytes=8)
    change_job(made, max_attempts=1)
    run_out(claim_one("kwame"))
    assert sweeping.rescue() == [(made, "dead_letter", "kwame")]
    row = job(made)
    assert (row.state, row.error_code) == ("dead_letter", "lease_expired")
    assert "kwame" in row.error_detail
    assert depth() == (0, 0, 0)
    assert JobOutcome.objects.get().outcome == "dead_letter"


def test_one_row_that_cannot_be_rescued_stops_no_other() -> None:
    caller = make_caller()
    made = [make_job(caller) for _ in range(4)]
    run_out(*claims())
    poison(made[1])
    assert {found[0] for found in sweeping.rescue()} == {made[0], made[2], made[3]}
    assert job(made[1]).state == "running"
    assert sweeping.rescue() == []


def test_one_row_that_cannot_end_stops_no_other() -> None:
    caller = make_caller()
    made = [make_job(caller) for _ in range(3)]
    for one in made:
        change_job(one, expires_at="2026-01-01T00:00:00Z")
    poison(made[0])
    assert set(sweeping.expire()) == set(made[1:])
    assert depth() == live_depth()


def test_an_outcome_that_was_noted_before_stops_no_rescue() -> None:
    made = make_job(make_caller())
    found = claim_one()
    JobOutcome.objects.create(job_id=made, generation=found.generation, attempt=1, outcome="odd")
    run_out(found)
    assert [one[0] for one in sweeping.rescue()] == [made]


def test_a_deadline_that_passed_ends_queued_jobs_only() -> None:
    caller = make_caller()
    running, queued, later = make_job(caller), make_job(caller), make_job(caller)
    claim_one()
    for one in (running, queued):
        change_job(one, expires_at="2026-01-01T00:00:00Z")
    change_job(later, expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert sweeping.expire() == [queued]
    row = job(queued)
    assert (row.state, row.error_code, row.generation) == ("expired", "expired", 1)
    assert depth() == live_depth()


def waiting_since(seconds: float, waited: float = 0.0) -> object:
    made = make_job(make_caller(f"caller {seconds} {waited}"))
    change_job(made, waiting_for="provider_quota", waiting_since=datetime.now(UTC) - timedelta(seconds=seconds))
    change_job(made, waited_seconds=waited)
    return made


def test_a_job_that_waited_too_long_in_all_is_a_dead_letter_with_the_code(settings: Settings) -> None:
    settings.MAX_WAIT_SECONDS = 100.0
    short, long, summed = waiting_since(50), waiting_since(150), waiting_since(50, waited=60)
    assert set(sweeping.end_long_waits(None)) == {long, summed}
    assert job(short).state == "queued"
    for one in (long, summed):
        assert (job(one).state, job(one).error_code) == ("dead_letter", "wait_exceeded")
    assert depth() == live_depth()


def test_jobs_that_no_worker_touched_count_as_waiting_while_the_provider_takes_nothing(settings: Settings) -> None:
    settings.MAX_WAIT_SECONDS = 100.0
    made = make_job(make_caller())
    assert sweeping.end_long_waits(datetime.now(UTC) - timedelta(seconds=50)) == []
    assert sweeping.end_long_waits(datetime.now(UTC) - timedelta(seconds=150)) == [made]


def test_a_backoff_is_no_wait_for_the_provider(settings: Settings) -> None:
    settings.MAX_WAIT_SECONDS = 100.0
    make_job(make_caller())
    settling.retry_or_bury(claim_one(), "odd", "odd")
    assert sweeping.end_long_waits(None) == []
