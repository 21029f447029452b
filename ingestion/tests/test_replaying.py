"""Many dead letters come back a few at a time, behind what is new; one more guard, one more control without it."""

from collections.abc import Callable
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from ingestion import draining, replaying, reviving
from ingestion.models import Checkpoint, EventEffect, EventRecord, Job, UsageDay
from ingestion.queue import replays
from ingestion.queue.controlling import Bound
from ingestion.reconciling import check_all
from ingestion.tests import eventing
from ingestion.tests.eventing import Producer
from ingestion.tests.making import stand
from ingestion.tests.races.meeting import at_once

pytestmark = pytest.mark.django_db(transaction=True)

BOUND = 8
SHARE = 2
DEAD = 6


@pytest.fixture
def producer(settings: Settings) -> Producer:
    """Of six events that could not be applied, because their document came late."""
    stand()
    settings.EVENTS_QUEUE_MAX = BOUND
    made = Producer()
    for number in range(DEAD):
        assert made.send(number).status_code == 202
        eventing.work()
    assert made.ledger()["quarantined"] == DEAD
    eventing.document()
    return made


def dead() -> list[UUID]:
    return reviving.dead_letters("events")


def never() -> bool:
    return False


def fresh(producer: Producer, count: int) -> list[int]:
    """The answers to so many new events."""
    return [producer.send(100 + number).status_code for number in range(count)]


def test_replays_fill_a_quarter_of_the_bound_and_new_events_the_rest(producer: Producer) -> None:
    assert [one.outcome for one in replaying.replay(dead(), never)] == ["queued"] * SHARE
    assert fresh(producer, BOUND) == [202] * (BOUND - SHARE) + [503] * SHARE
    assert eventing.depth() == eventing.live_depth()


def test_without_the_share_they_crowd_new_events_out(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "REPLAY_SHARE", 1.0)
    list(replaying.replay(dead(), never))
    assert fresh(producer, BOUND) == [202] * (BOUND - DEAD) + [503] * DEAD


def claimed() -> list[str]:
    """The events of the next claim, in order of work."""
    (run,) = eventing.claims().values()
    names = dict(EventRecord.objects.values_list("job_id", "event_id"))
    return [names[one.id] for one in run]


def test_what_waits_already_goes_before_what_is_replayed(producer: Producer) -> None:
    fresh(producer, 3)
    list(replaying.replay(dead(), never))
    assert claimed() == ["e-100", "e-101", "e-102", "e-0", "e-1"]


def test_without_a_new_place_a_replay_goes_before_what_waits(
    producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "stand_behind", lambda job_id: True)
    fresh(producer, 3)
    list(replaying.replay(dead(), never))
    assert claimed() == ["e-0", "e-1", "e-100", "e-101", "e-102"]


def test_all_come_back_as_workers_make_room_and_each_is_applied_once(producer: Producer) -> None:
    waits = 0

    def wait() -> bool:
        nonlocal waits
        waits += 1
        eventing.work()
        return True

    assert len(list(replaying.replay(dead(), wait))) == DEAD
    eventing.work()
    assert waits == DEAD / SHARE - 1
    assert (EventEffect.objects.count(), UsageDay.objects.get().views) == (DEAD, DEAD)
    latest = Job.objects.filter(queue="events").latest("sequence")
    assert Checkpoint.objects.get().last_applied == latest.sequence
    assert [one.name for one in check_all() if not one.holds and one.invariant == 7] == []
    assert eventing.depth() == (0, 0, 0)
    assert producer.ledger()["balanced"]


def test_one_that_dies_again_is_not_tried_for_ever(producer: Producer) -> None:
    EventRecord.objects.update(payload={"rating": "banana"})

    def wait() -> bool:
        eventing.work()
        return True

    found = list(replaying.replay(dead(), wait))
    assert len(found) == DEAD
    eventing.work()
    assert producer.ledger()["quarantined"] == DEAD


def at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> int:
    """Two operators replay one job each, with room for one; both count before either adds, if nothing forbids it."""
    barrier = Barrier(2)
    count: Callable[[str], Bound] = replays.replayed

    def counted(queue: str) -> Bound:
        found = count(queue)
        # Broken where the other one waits for the lock: that is what is tested.
        with suppress(BrokenBarrierError):
            barrier.wait(timeout=0.5)
        return found

    jobs = dead()
    replaying.replay_one(jobs[0])
    monkeypatch.setattr(replays, "replayed", counted)

    def one(number: int) -> None:
        with suppress(replaying.NoRoom):
            replaying.replay_one(jobs[1 + number])

    at_once(2, one)
    return eventing.live_depth()[0]


def test_two_operators_at_once_keep_to_the_share(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert at_the_same_moment(monkeypatch) == SHARE


def test_without_the_lock_two_operators_pass_it(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "lock", lambda queue: None)
    assert at_the_same_moment(monkeypatch) == SHARE + 1


def test_a_draining_queue_takes_no_replay_and_the_job_keeps_its_place(producer: Producer) -> None:
    job = Job.objects.get(id=dead()[0])
    draining.pause_admission("events")
    with pytest.raises(replaying.Draining):
        replaying.replay_one(job.id)
    after = Job.objects.get(id=job.id)
    assert (after.state, after.sequence, after.generation) == ("dead_letter", job.sequence, job.generation)


def test_one_job_larger_than_the_share_comes_back_alone(producer: Producer, settings: Settings) -> None:
    settings.EVENTS_QUEUE_MAX_UNITS = 3
    assert [one.outcome for one in replaying.replay(dead(), never)] == ["queued"]


def test_the_command_queues_what_has_room_once(producer: Producer, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match=f"{SHARE} of {DEAD} dead letters are queued again, {DEAD - SHARE} left"):
        call_command("retryjob", "--all", "--queue", "events", "--once")
    eventing.work()
    call_command("retryjob", "--all", "--queue", "events", "--limit", "1")
    assert f"1 of {DEAD - SHARE} dead letters" in capsys.readouterr().out
