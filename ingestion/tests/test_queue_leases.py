"""A worker keeps its leases beside the work, notices what it lost, and ends when it can't prove them any more."""

import threading
import time
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import InterfaceError, OperationalError
from pytest_django import Settings

from ingestion.models import Job, Worker
from ingestion.queue import settling, sweeping
from ingestion.queue.claims import Claim
from ingestion.queue.kinds import Kind
from ingestion.queue.outcomes import Done, Outcome
from ingestion.tests.making import claim_one, claims, depth, job, live_depth, make_caller, make_job, run_out
from ingestion.worker import leases as leases_module
from ingestion.worker import running
from ingestion.worker.leases import Leases
from ingestion.worker.loop import Loop

pytestmark = pytest.mark.django_db(transaction=True)


def keep(*held: Claim) -> Leases:
    leases = Leases("kwame", ["documents"], 4)
    for one in held:
        leases.hold(one)
    return leases


def held_jobs(count: int) -> list[Claim]:
    caller = make_caller()
    for _ in range(count):
        make_job(caller)
    return claims(count)


def test_a_beat_starts_every_lease_anew_and_says_that_the_worker_lives() -> None:
    held = held_jobs(3)
    run_out(*held)
    keep(*held).beat()
    assert sweeping.rescue() == []
    assert (Worker.objects.get().name, Worker.objects.get().busy) == ("kwame", 3)


def test_a_step_that_leaves_the_processor_no_rest_starves_no_beat(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HEARTBEAT_SECONDS = 0.01
    beaten, real = threading.Event(), settling.extend

    def extend(held: list[Claim]) -> set[tuple[UUID, int]]:
        kept = real(held)
        beaten.set()
        return kept

    monkeypatch.setattr(settling, "extend", extend)
    (held,) = held_jobs(1)
    run_out(held)
    leases = keep(held)
    leases.start()
    deadline = time.monotonic() + 60
    while not beaten.is_set() and time.monotonic() < deadline:
        sum(range(10_000))
    leases.stop()
    assert sweeping.rescue() == []


def test_a_beat_drops_what_was_lost_and_keeps_the_rest() -> None:
    lost, kept = held_jobs(2)
    run_out(lost)
    sweeping.rescue()
    leases = keep(lost, kept)
    leases.beat()
    assert lost.lost.is_set()
    assert not kept.lost.is_set()
    assert leases.held() == [kept]
    assert not leases.is_doubtful.is_set()


@pytest.fixture
def broken_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    def extend(_: list[Claim]) -> set[object]:
        raise OperationalError("the statement did not come through")

    monkeypatch.setattr(settling, "extend", extend)


@pytest.mark.usefixtures("broken_beats")
def test_one_beat_that_fails_costs_nothing_while_the_lease_lasts() -> None:
    (held,) = held_jobs(1)
    leases = keep(held)
    leases.beat()
    assert not held.lost.is_set()
    assert not leases.is_doubtful.is_set()


@pytest.mark.usefixtures("broken_beats")
def test_once_its_leases_cannot_be_proven_a_worker_drops_the_work_and_ends_with_a_failure(settings: Settings) -> None:
    (held,) = held_jobs(1)
    loop = Loop(["documents"], 1, 5.0)
    loop.leases.hold(held)
    loop.leases._proven_at -= settings.LEASE_SECONDS + 1
    assert loop.run() == 1
    assert held.lost.is_set()
    # Not given back: it may be somebody else's already.
    assert job(held.id).state == "running"


@pytest.mark.usefixtures("broken_beats")
def test_a_database_that_is_down_for_everybody_is_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held,) = held_jobs(1)
    leases = keep(held)
    monkeypatch.setattr(leases_module, "answers", lambda: False)
    leases._proven_at -= settings.LEASE_SECONDS + 1
    leases.beat()
    assert not leases.is_doubtful.is_set()
    leases._proven_at -= leases_module.DATABASE_PATIENCE_SECONDS
    leases.beat()
    assert leases.is_doubtful.is_set()


def test_a_drain_gives_back_what_did_not_finish_without_a_spent_try() -> None:
    held = held_jobs(2)
    loop = Loop(["documents"], 2, 0.0)
    for one in held:
        loop.leases.hold(one)
    loop.stopping.ask()
    assert loop.run() == 0
    assert set(Job.objects.values_list("state", "attempt")) == {("queued", 0)}
    assert all(one.lost.is_set() for one in held)
    assert depth() == live_depth()
    assert not Worker.objects.exists()


# --- a database that is away while a job runs -----------------------------------------------------------------------


def failing(times: int, error: Exception) -> Callable[[Claim], Outcome]:
    left = [times]

    def handler(_: Claim) -> Outcome:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return Done()

    return handler


def run_with(handler: Callable[[Claim], Outcome]) -> Job:
    make_job(make_caller())
    one = claim_one()
    running.run(one, Kind(one.kind, "documents", handler), pause=lambda seconds: None)
    return job(one.id)


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError("closed")])
def test_a_connection_that_was_killed_under_a_job_costs_it_nothing(error: Exception) -> None:
    row = run_with(failing(running.FREE_REPEATS, error))
    assert (row.state, row.attempt, row.generation) == ("succeeded", 1, 1)


def test_a_statement_that_always_fails_is_the_jobs_own_fault() -> None:
    row = run_with(failing(1_000, OperationalError("canceling statement due to statement timeout")))
    assert (row.state, row.attempt, row.error_code) == ("queued", 1, "OperationalError")


def test_a_database_that_is_away_for_long_is_waited_for_and_no_finish_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "answers", lambda: False)
    row = run_with(failing(50, OperationalError("gone")))
    assert (row.state, row.attempt) == ("succeeded", 1)


def test_a_job_that_was_lost_while_the_database_was_away_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "answers", lambda: False)
    make_job(make_caller())
    one = claim_one()

    def handler(claim: Claim) -> Outcome:
        claim.lost.set()
        raise OperationalError("gone")

    assert running.run(one, Kind(one.kind, "documents", handler), pause=lambda seconds: None) is False
    assert job(one.id).state == "running"
