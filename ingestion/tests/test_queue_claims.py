"""What a claim takes, and what it leaves alone."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from pytest_django import Settings

from ingestion.models import Checkpoint, Job
from ingestion.queue import settling
from ingestion.queue.claims import claim, claim_partitions
from ingestion.tests.making import change_job, claim_one, claims, job, make_caller, make_job

pytestmark = pytest.mark.django_db


def test_a_claim_takes_the_job_under_a_new_generation_a_charged_try_and_a_lease(settings: Settings) -> None:
    made = make_job(make_caller(), request_id="r-1")
    before = datetime.now(UTC)
    found = claim_one("kwame")
    row = job(made)
    assert (found.id, found.generation, found.attempt, found.max_attempts) == (made, 1, 1, settings.MAX_ATTEMPTS)
    assert (found.queue, found.kind, found.request_id) == ("documents", "ingest_version", "r-1")
    assert (row.state, row.generation, row.attempt, row.worker) == ("running", 1, 1, "kwame")
    assert row.lease_until is not None
    assert abs((row.lease_until - before).total_seconds() - settings.LEASE_SECONDS) < 5


def test_a_claimed_job_is_not_claimed_again() -> None:
    make_job(make_caller())
    assert len(claims()) == 1
    assert claims() == []


def test_two_hundred_of_one_caller_do_not_hold_back_anothers_one() -> None:
    omar, mei = make_caller("omar"), make_caller("mei")
    for _ in range(200):
        make_job(omar)
    hers = make_job(mei)
    assert hers in [found.id for found in claims(2)]


def test_callers_take_turns_also_behind_a_backlog_that_was_half_worked_off() -> None:
    omar, mei = make_caller("omar"), make_caller("mei")
    for _ in range(20):
        make_job(omar)
    for found in claims(10):
        settling.finish(found, "succeeded")
    for _ in range(5):
        make_job(mei)
    owners = [claim_one().caller_id for _ in range(10)]
    assert owners.count(mei.pk) == 5


def test_within_one_caller_the_order_is_that_of_acceptance() -> None:
    caller = make_caller()
    made = [make_job(caller) for _ in range(5)]
    assert [claim_one().id for _ in made] == made


def test_a_job_is_claimed_for_the_lane_that_its_next_step_needs() -> None:
    caller = make_caller()
    chat, embeddings = make_job(caller, lane="chat"), make_job(caller, lane="embeddings")
    assert [found.id for found in claims(lane="embeddings")] == [embeddings]
    assert [found.id for found in claims(lane="chat")] == [chat]


def test_a_kind_that_the_worker_does_not_know_is_left_alone_and_holds_nobody_back() -> None:
    caller = make_caller()
    unknown, known = make_job(caller, kind="of_a_newer_program"), make_job(caller)
    assert [found.id for found in claims()] == [known]
    row = job(unknown)
    assert (row.state, row.attempt, row.generation) == ("queued", 0, 0)


def test_a_job_whose_time_has_not_come_is_not_touched_and_holds_nobody_back() -> None:
    caller = make_caller()
    later, now = make_job(caller), make_job(caller)
    change_job(later, ready_at=datetime.now(UTC) + timedelta(hours=1), waiting_for="provider_quota")
    before = Job.objects.filter(id=later).values().get()
    assert [found.id for found in claims()] == [now]
    assert Job.objects.filter(id=later).values().get() == before


def test_a_job_past_its_deadline_is_not_run() -> None:
    made = make_job(make_caller())
    change_job(made, expires_at="2026-01-01T00:00:00Z")
    assert claims() == []


def test_other_queues_are_left_alone() -> None:
    make_job(make_caller(), queue="events", kind="apply_event")
    assert claims() == []
    assert len(claim("events", ["apply_event"], lane="chat", limit=5, worker="kwame")) == 1


def test_a_row_whose_budget_was_cut_by_hand_stops_no_other_claim() -> None:
    caller = make_caller()
    odd, plain = make_job(caller), make_job(caller)
    change_job(odd, attempt=3, max_attempts=3)
    found = {one.id: one for one in claims()}
    assert found.keys() == {odd, plain}
    assert (found[odd].attempt, found[odd].max_attempts) == (3, 3)


def test_the_time_that_a_job_waited_for_the_provider_is_summed_at_the_claim() -> None:
    made = make_job(make_caller())
    change_job(made, waiting_for="provider_quota", waiting_since=datetime.now(UTC) - timedelta(seconds=90))
    change_job(made, waited_seconds=10.0)
    claim_one()
    row = job(made)
    assert row.waited_seconds == pytest.approx(100, abs=5)
    assert (row.waiting_for, row.waiting_since) == (None, None)


# --- partitions: ordered work ---------------------------------------------------------------------------------------


def ordered(partition: str, count: int) -> list[UUID]:
    Checkpoint.objects.get_or_create(partition=partition)
    caller = make_caller(partition)
    return [
        make_job(caller, queue="events", kind="apply_event", lane="", partition=partition, units=1)
        for _ in range(count)
    ]


def runs(limit: int = 100, partitions: int = 10) -> dict[str, list[UUID]]:
    found = claim_partitions("events", ["apply_event"], limit=limit, partitions=partitions, worker="kwame")
    return {partition: [one.id for one in run] for partition, run in found.items()}


def test_a_partition_is_claimed_in_order_of_acceptance() -> None:
    made = ordered("eu", 5)
    assert runs(limit=3) == {"eu": made[:3]}


def test_a_partition_of_which_a_job_runs_gives_none_to_anybody() -> None:
    ordered("eu", 5)
    us = ordered("us", 1)
    runs(limit=1, partitions=1)
    assert runs() == {"us": us}


def test_nothing_is_claimed_past_a_job_that_waits() -> None:
    made = ordered("eu", 3)
    change_job(made[1], ready_at=datetime.now(UTC) + timedelta(hours=1), waiting_for="backoff")
    assert runs() == {"eu": made[:1]}


def test_a_head_that_waits_holds_its_own_partition_only() -> None:
    eu, us = ordered("eu", 3), ordered("us", 2)
    change_job(eu[0], ready_at=datetime.now(UTC) + timedelta(hours=1), waiting_for="backoff")
    assert runs() == {"us": us}


def test_a_job_that_ended_makes_way_for_the_next() -> None:
    made = ordered("eu", 3)
    first = claim_partitions("events", ["apply_event"], limit=1, partitions=1, worker="kwame")["eu"][0]
    settling.finish(first, "dead_letter", code="poison", detail="no")
    assert runs() == {"eu": made[1:]}
