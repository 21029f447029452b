"""Many workers claim, settle and rescue at the same moment: each job is one worker's, each generation ends once."""

from collections import Counter
from threading import Barrier, Event

import pytest
from django.db import connection, transaction

from ingestion.models import Checkpoint, Job, JobOutcome
from ingestion.queue import settling, sweeping
from ingestion.queue.claims import Claim, claim_partitions
from ingestion.queue.controlling import cancel
from ingestion.queue.outcomes import ClaimLost
from ingestion.tests.making import claim_one, claims, depth, job, live_depth, make_caller, make_job, run_out
from ingestion.tests.races.meeting import at_once

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 8
# Each holds a connection while it waits for the others, and the pool has few.
UNGUARDED = 4


def make_jobs(count: int) -> None:
    caller = make_caller()
    for _ in range(count):
        make_job(caller)


def test_no_job_is_claimed_twice_and_none_is_left() -> None:
    make_jobs(40)

    def work(number: int) -> list[Claim]:
        found: list[Claim] = []
        while some := claims(3, worker=f"w-{number}"):
            found += some
        return found

    found = [one.id for some in at_once(WORKERS, work) for one in some]
    assert len(found) == len(set(found)) == 40
    assert set(Job.objects.values_list("state", "attempt", "generation")) == {("running", 1, 1)}


def test_without_skip_locked_and_its_update_several_claim_the_same_job() -> None:
    """The control: choosing first and marking afterwards gives one job to several workers."""
    make_jobs(1)
    chosen = Barrier(UNGUARDED)

    def claim_unguarded(_: int) -> bool:
        found = Job.objects.filter(state="queued").first()
        chosen.wait(timeout=20)
        if found is None:
            return False
        Job.objects.filter(id=found.id).update(state="running", lease_until="2030-01-01T00:00:00Z")
        return True

    assert sum(at_once(UNGUARDED, claim_unguarded)) > 1


def test_a_claimer_never_waits_for_a_row_that_another_one_holds() -> None:
    make_jobs(2)
    held, claimed = Event(), Event()

    def work(number: int) -> int:
        if number == 0:
            with transaction.atomic():
                Job.objects.select_for_update().order_by("sequence").first()
                held.set()
                assert claimed.wait(timeout=20)
            return 0
        assert held.wait(timeout=20)
        found = claims(10)
        claimed.set()
        return len(found)

    assert at_once(2, work) == [0, 1]


def outcome(verb: str, one: Claim) -> bool:
    try:
        {
            "finish": lambda: settling.finish(one, "succeeded"),
            "give back": lambda: settling.give_back(one),
            "retry": lambda: settling.retry_or_bury(one, "odd", "odd"),
        }[verb]()
    except ClaimLost:
        return False
    return True


@pytest.mark.parametrize("verb", ["finish", "give back", "retry"])
def test_a_settlement_and_a_rescue_of_the_same_lease_end_it_once(verb: str) -> None:
    make_jobs(8)
    held = claims(8)
    run_out(*held)

    def work(number: int) -> tuple[bool, set[object]]:
        if number == 0:
            return False, {found[0] for found in sweeping.rescue()}
        return outcome(verb, held[number - 1]), set()

    results = at_once(9, work)
    rescued = results[0][1]
    for one, (settled, _) in zip(held, results[1:], strict=True):
        assert settled is (one.id not in rescued)
    assert JobOutcome.objects.count() == 8
    assert depth() == live_depth()
    if verb == "finish":
        assert Job.objects.filter(state="succeeded").count() == 8 - len(rescued)


def test_a_rescue_that_had_read_the_stale_lease_leaves_a_job_that_was_completed_meanwhile() -> None:
    make_jobs(3)
    held = claims(3)
    run_out(*held)
    finished, rescued = Event(), Event()

    def work(number: int) -> int:
        if number == 0:
            with transaction.atomic():
                settling.finish(held[0], "succeeded")
                finished.set()
                # The rescue runs while this row is completed but not committed: it is skipped, the others are not.
                assert rescued.wait(timeout=20)
            return 0
        assert finished.wait(timeout=20)
        found = len(sweeping.rescue())
        rescued.set()
        return found

    assert at_once(2, work) == [0, 2]
    assert job(held[0].id).state == "succeeded"
    assert sweeping.rescue() == []
    assert depth() == live_depth() == (2, 20, 200)


def test_without_the_check_of_the_lease_a_rescue_undoes_a_completed_job() -> None:
    """The control: a rescue that writes by id alone gives a completed job away again."""
    make_jobs(1)
    one = claim_one()
    run_out(one)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM ingestion_job WHERE state = 'running' AND lease_until < now()")
        stale = [row[0] for row in cursor.fetchall()]
    settling.finish(one, "succeeded")
    Job.objects.filter(id__in=stale).update(state="queued", finished_at=None)
    assert job(one.id).state == "queued"


def test_two_rescues_at_once_rescue_each_job_once() -> None:
    make_jobs(30)
    run_out(*claims(30))
    found = [one[0] for some in at_once(WORKERS, lambda _: sweeping.rescue()) for one in some]
    assert len(found) == len(set(found)) == 30
    assert set(Job.objects.values_list("state", "attempt")) == {("queued", 1)}


def test_a_heartbeat_and_a_rescue_agree_whose_the_job_is() -> None:
    make_jobs(6)
    held = claims(6)
    run_out(*held)
    kept, rescued = at_once(
        2, lambda number: settling.extend(held) if number == 0 else {found[0] for found in sweeping.rescue()}
    )
    assert {one.id for one in held if one.key in kept}.isdisjoint(rescued)
    assert len(kept) + len(rescued) == 6


def test_a_cancel_and_a_claim_of_the_same_job_agree_whose_it_is() -> None:
    for _ in range(5):
        made = make_job(make_caller(f"caller {Job.objects.count()}"))
        cancelled, claimed = at_once(2, lambda number: bool(cancel([made])) if number == 0 else bool(claims()))  # noqa: B023  (runs before the next round)
        assert cancelled != claimed
        assert job(made).state == ("cancelled" if cancelled else "running")
    assert depth() == live_depth()


# --- partitions -----------------------------------------------------------------------------------------------------


def ordered(partition: str, count: int) -> None:
    Checkpoint.objects.get_or_create(partition=partition)
    caller = make_caller(partition)
    for _ in range(count):
        make_job(caller, queue="events", kind="apply_event", lane="", partition=partition, units=1)


def test_no_two_workers_are_in_one_partition_and_its_order_holds() -> None:
    for number in range(3):
        ordered(f"p-{number}", 12)
    running: Counter[str] = Counter()
    clashes: list[str] = []
    finished: list[tuple[str, int]] = []

    def work(number: int) -> None:
        for _ in range(200):
            if not (runs := claim_partitions("events", ["apply_event"], limit=4, partitions=2, worker=f"w-{number}")):
                if not Job.objects.filter(state__in=("queued", "running")).exists():
                    return
                continue
            for partition in runs:
                running[partition] += 1
                if running[partition] > 1:
                    clashes.append(partition)
            for partition, run in runs.items():
                for one in run:
                    finished.append((partition, one.sequence))
                    settling.finish(one, "succeeded") if one is not run[-1] else None
                running[partition] -= 1
                settling.finish(run[-1], "succeeded")

    at_once(6, work)
    assert clashes == []
    assert len(finished) == 36
    for number in range(3):
        sequences = [sequence for partition, sequence in finished if partition == f"p-{number}"]
        assert sequences == sorted(sequences)


def test_without_the_lock_of_the_partition_two_workers_are_in_it() -> None:
    """The control: asking first whether something runs and claiming afterwards lets several in."""
    ordered("eu", UNGUARDED)
    looked = Barrier(UNGUARDED)

    def claim_unguarded(number: int) -> bool:
        is_free = not Job.objects.filter(partition="eu", state="running").exists()
        looked.wait(timeout=20)
        if is_free:
            with transaction.atomic():
                found = Job.objects.select_for_update(skip_locked=True).filter(partition="eu", state="queued").first()
                assert found is not None
                Job.objects.filter(id=found.id).update(state="running", lease_until="2030-01-01T00:00:00Z")
        return is_free

    at_once(UNGUARDED, claim_unguarded)
    assert Job.objects.filter(partition="eu", state="running").count() > 1


def test_a_job_that_somebody_else_holds_is_not_overtaken_by_those_behind_it() -> None:
    ordered("eu", 3)
    first, second, _ = Job.objects.order_by("sequence").values_list("id", flat=True)
    held, claimed = Event(), Event()

    def work(number: int) -> list[object]:
        if number == 0:
            with transaction.atomic():
                Job.objects.select_for_update().get(id=second)
                held.set()
                assert claimed.wait(timeout=20)
            return []
        assert held.wait(timeout=20)
        runs = claim_partitions("events", ["apply_event"], limit=10, partitions=2, worker="kwame")
        claimed.set()
        return [one.id for run in runs.values() for one in run]

    assert at_once(2, work)[1] == [first]
