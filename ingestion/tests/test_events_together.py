"""Many events are applied and settled in one transaction; what can't be is found by halves, and blocks nobody else."""

from collections.abc import Sequence
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from ingestion import jobs
from ingestion.models import Checkpoint, EventEffect, EventRecord, Job, JobOutcome, QueueState, UsageDay
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.kinds import Kind
from ingestion.queue.outcomes import ClaimLost, Done
from ingestion.tests.eventing import Producer, claims, depth, document, event, live_depth
from ingestion.worker import running
from ingestion.worker.loop import bundles
from ingestion.worker.running import TOGETHER_MAX, finish_together, run_in_order

pytestmark = pytest.mark.django_db(transaction=True)

APPLY = jobs.KINDS["apply_event"]


def run_all(kind: Kind = APPLY) -> list[Claim]:
    """All that is ready, in one thread's run; the claims that were let go, in order."""
    gone: list[Claim] = []
    run_in_order([claim for run in claims().values() for claim in run], kind, gone.append)
    return gone


def ratings() -> tuple[int, int]:
    found = UsageDay.objects.aggregate(count=Sum("ratings"), total=Sum("rating_sum"))
    return found["count"] or 0, found["total"] or 0


def rated(number: int, rating: object = 5, **changes: object) -> dict[str, object]:
    payload = {"answer_id": f"a-{number}", "document": "returns", "rating": rating}
    return event(number, type="answer.rated", payload=payload, **changes)


@pytest.fixture
def singles(monkeypatch: pytest.MonkeyPatch) -> list[Claim]:
    """The claims that were run one by one."""
    found: list[Claim] = []
    real = running.run

    def run(claim: Claim, kind: Kind) -> bool:
        found.append(claim)
        return real(claim, kind)

    monkeypatch.setattr(running, "run", run)
    return found


def test_events_of_several_partitions_are_applied_with_few_statements(singles: list[Claim]) -> None:
    document()
    Producer().batch([rated(number, partition=f"p-{number % 4}") for number in range(40)])
    found = [claim for run in claims().values() for claim in run]
    with CaptureQueriesContext(connection) as asked:
        run_in_order(found, APPLY, lambda claim: None)
    assert (singles, ratings(), depth()) == ([], (40, 200), (0, 0, 0))
    # Begin and commit, the partitions' locks, the events, their effects, the settlements: not one of them forty times.
    assert len(asked) <= 6, [query["sql"][:60] for query in asked]
    assert EventEffect.objects.count() == JobOutcome.objects.filter(outcome="succeeded").count() == 40
    last = {one.partition: one.last_applied for one in Checkpoint.objects.all()}
    for partition, sequence in last.items():
        assert sequence == max(Job.objects.filter(partition=partition).values_list("sequence", flat=True))


def test_they_say_the_same_as_one_by_one() -> None:
    document(versions=2)
    producer = Producer()
    kinds = [
        rated(0),
        event(1, type="answer.cited", payload={"answer_id": "a", "document": "returns", "version": 2, "position": 0}),
        event(2, occurred_at="2026-11-26T23:59:59Z"),
        event(3, type="ticket.resolved", payload={"ticket_id": "t", "documents": ["returns"], "minutes": 3}),
    ]
    producer.batch(kinds)
    run_all()
    together = list(UsageDay.objects.order_by("date", "version_number").values())
    UsageDay.objects.all().delete()
    EventEffect.objects.all().delete()
    Job.objects.filter(queue="events").update(state="queued", finished_at=None)
    jobs_, units, size = live_depth()
    QueueState.objects.filter(queue="events").update(jobs=jobs_, units=units, bytes=size)
    run_all(Kind(APPLY.name, "events", APPLY.handler, "dead_letter"))
    alone = list(UsageDay.objects.order_by("date", "version_number").values())
    assert [{**row, "id": 0} for row in together] == [{**row, "id": 0} for row in alone]


@pytest.mark.parametrize("poison", [0, 7, 19])
def test_a_poison_event_is_quarantined_alone_and_the_others_are_applied(singles: list[Claim], poison: int) -> None:
    document()
    Producer().batch([rated(number, "banana" if number == poison else 5) for number in range(20)])
    gone = run_all()
    assert len(gone) == 20
    assert ratings() == (19, 95)
    states = dict(Job.objects.filter(queue="events").values_list("event__event_id", "state"))
    assert [name for name, state in states.items() if state == "dead_letter"] == [f"e-{poison}"]
    assert list(states.values()).count("succeeded") == 19
    assert len(singles) < 10, "found by halves, not by trying each"
    assert depth() == (0, 0, 0)


def test_an_event_that_names_no_document_takes_no_other_with_it() -> None:
    document()
    payload = {"answer_id": "a", "document": "unheard-of", "rating": 5}
    Producer().batch([rated(1), event(2, type="answer.rated", payload=payload), rated(3)])
    run_all()
    assert ratings() == (2, 10)
    assert Job.objects.get(state="dead_letter").event.event_id == "e-2"


def test_one_lost_claim_undoes_its_part_and_only_itself_is_dropped() -> None:
    document()
    Producer().batch([rated(number, partition=f"p-{number}") for number in range(8)])
    found = [claim for run in claims().values() for claim in run]
    lost = found[3]
    Job.objects.filter(pk=lost.id).update(generation=lost.generation + 1)
    run_in_order(found, APPLY, lambda claim: None)
    assert ratings() == (7, 35)
    row = Job.objects.get(pk=lost.id)
    assert (row.state, row.generation) == ("running", lost.generation + 1)
    assert not EventEffect.objects.filter(event__job=lost.id).exists()
    assert depth() == live_depth()


def test_a_lost_claim_among_them_is_named_and_nothing_of_it_settled() -> None:
    document()
    Producer().batch([rated(number) for number in range(3)])
    found = [claim for run in claims().values() for claim in run]
    Job.objects.filter(pk=found[1].id).update(generation=9)
    with pytest.raises(ClaimLost, match=str(found[1].id)):
        settling.finish_together(found)


def test_without_the_count_of_settled_claims_a_lost_one_would_keep_its_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the statement alone changes what is ours, and the rest of the transaction commits."""
    document()
    Producer().batch([rated(number) for number in range(3)])
    found = [claim for run in claims().values() for claim in run]
    Job.objects.filter(pk=found[1].id).update(generation=9)

    def finish(part: Sequence[Claim]) -> None:
        try:
            real(part)
        except ClaimLost:
            return

    real = settling.finish_together
    monkeypatch.setattr(settling, "finish_together", finish)
    assert APPLY.together is not None
    assert finish_together(found, APPLY.together)
    assert ratings() == (3, 15)
    assert Job.objects.get(pk=found[1].id).state == "running"


def test_an_event_that_was_applied_before_counts_once_among_others() -> None:
    document()
    Producer().batch([rated(number) for number in range(5)])
    first = EventRecord.objects.get(event_id="e-0")
    EventEffect.objects.create(event=first, generation=1)
    run_all()
    assert ratings() == (4, 20)
    assert Job.objects.filter(queue="events", state="succeeded").count() == 5


def test_behind_one_that_is_queued_again_the_rest_of_its_partition_waits_and_the_others_go_on() -> None:
    Producer().batch([event(number, partition="ab"[number % 2]) for number in range(10)])
    held_up = Job.objects.filter(queue="events", partition="a").order_by("sequence")[2].pk

    def together(part: Sequence[Claim]) -> None:
        if any(claim.id == held_up for claim in part):
            raise ValueError("not now")

    def alone(claim: Claim) -> Done:
        together([claim])
        return Done()

    gone = run_all(Kind(APPLY.name, "events", alone, together=together))
    assert len(gone) == 10
    in_order = Job.objects.order_by("sequence")
    states = [list(in_order.filter(partition=one).values_list("state", flat=True)) for one in "ab"]
    assert states == [["succeeded"] * 2 + ["queued"] * 3, ["succeeded"] * 5]
    given_back = Job.objects.filter(partition="a", state="queued").exclude(pk=held_up)
    assert set(given_back.values_list("attempt", flat=True)) == {0}, "their tries are returned"
    assert depth() == live_depth()


# --- what one thread gets (pure) ------------------------------------------------------------------------------------


def run_of(length: int, kind: str = "apply_event") -> list[Claim]:
    return [Claim(uuid4(), "events", kind, 1, 1, 5, "p", number, 1, "") for number in range(length)]


@pytest.mark.parametrize(
    ("lengths", "most", "sizes"),
    [
        ([1] * 10, 16, [10]),
        ([800], 16, [800]),
        ([50] * 16, 16, [TOGETHER_MAX] * 4),
        ([TOGETHER_MAX - 1, 5, 3], 4, [TOGETHER_MAX + 4, 3]),
        ([300] * 4, 2, [600, 600]),
        ([], 16, []),
    ],
)
def test_short_runs_are_joined_and_none_is_divided(lengths: list[int], most: int, sizes: list[int]) -> None:
    found = bundles([run_of(length) for length in lengths], most)
    assert [len(one) for one in found] == sizes
    assert len(found) <= most


def test_a_thread_gets_one_kind() -> None:
    found = bundles([run_of(2), run_of(3, "other"), run_of(4)], most=8)
    assert sorted(len({claim.kind for claim in one}) for one in found) == [1, 1]
