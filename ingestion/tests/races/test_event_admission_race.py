"""Many producers at one door: the bound holds to the event, one identity is accepted once, a name has one owner."""

from collections import Counter
from collections.abc import Callable
from itertools import chain

import pytest
from django.conf import LazySettings
from django.db import connection

from ingestion.event_admission import Accepted, Verdict, admit_events
from ingestion.events import envelope
from ingestion.models import Checkpoint, EventRecord, Job, ProducerOwner, QueueState
from ingestion.problems import Problem
from ingestion.tests.eventing import Producer, depth, event, live_depth
from ingestion.tests.races.meeting import at_once

pytestmark = pytest.mark.django_db(transaction=True)

RACERS = 16


def word(verdict: Verdict) -> str:
    if isinstance(verdict, Problem):
        return verdict.code
    return "replayed" if verdict.is_replay else "accepted"


def send(caller: Producer, *events: dict[str, object]) -> list[str]:
    return [word(verdict) for verdict in admit_events(caller.caller, [envelope.read(one) for one in events])]


def meet(count: int, work: Callable[[int], list[str]]) -> Counter[str]:
    """How often each word was the answer, of threads that start together."""
    return Counter(chain.from_iterable(at_once(count, work)))


def test_sixteen_racers_for_one_place_are_one_accepted_and_fifteen_refused(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 1
    producer = Producer()
    found = meet(RACERS, lambda number: send(producer, event(number)))
    assert found == {"accepted": 1, "queue_full": RACERS - 1}
    assert EventRecord.objects.count() == 1
    assert depth() == live_depth()


def test_batches_that_meet_fill_the_bound_exactly(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX, settings.EVENTS_PER_MINUTE = 50, 100_000
    producer = Producer()

    def send_two_batches(number: int) -> list[str]:
        first = [event(number * 100 + one, partition=f"p{one % 3}") for one in range(5)]
        second = [event(number * 100 + 50 + one, partition=f"p{one % 2}") for one in range(5)]
        return send(producer, *first) + send(producer, *second)

    found = meet(RACERS, send_two_batches)
    assert found == {"accepted": 50, "queue_full": RACERS * 10 - 50}
    assert EventRecord.objects.count() == Job.objects.count() == 50
    assert depth() == live_depth()
    assert depth()[0] == 50


def test_copies_of_one_event_that_meet_are_accepted_once() -> None:
    producer = Producer()
    found = meet(RACERS, lambda number: send(producer, event(1)))
    assert found == {"accepted": 1, "replayed": RACERS - 1}
    assert (EventRecord.objects.count(), Job.objects.count(), depth()) == (1, 1, live_depth())


def test_two_payloads_under_one_identity_that_meet_are_one_event_and_conflicts() -> None:
    producer = Producer()
    found = meet(RACERS, lambda number: send(producer, event(1, payload={"document": str(number % 2)})))
    assert found["accepted"] == 1
    assert found["replayed"] + found["event_conflict"] == RACERS - 1
    assert found["event_conflict"] >= 1
    assert (EventRecord.objects.count(), depth()) == (1, live_depth())


def test_of_two_callers_that_meet_under_a_new_name_one_owns_it() -> None:
    callers = [Producer(f"caller {number}") for number in range(8)]
    found = [one for (one,) in at_once(8, lambda number: send(callers[number], event(number)))]
    assert Counter(found) == {"accepted": 1, "forbidden": 7}
    assert ProducerOwner.objects.get().caller == callers[found.index("accepted")].caller
    assert EventRecord.objects.get().caller == ProducerOwner.objects.get().caller
    assert (Checkpoint.objects.count(), depth()) == (1, live_depth())


def test_the_share_of_a_caller_holds_when_its_requests_meet(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX, settings.CALLER_QUEUE_SHARE = 10, 0.3
    producer = Producer()
    found = meet(8, lambda number: send(producer, event(number)))
    assert found == {"accepted": 3, "rate_limited": 5}
    assert depth() == live_depth()


def test_the_order_of_acceptance_is_the_order_of_commits() -> None:
    """Whoever sees an event of a partition sees every one that was accepted before it."""
    producer = Producer()
    gaps: list[set[int]] = []

    def send_and_look(number: int) -> list[str]:
        sent = send(producer, *(event(number * 10 + one) for one in range(3)))
        seen = sorted(Job.objects.filter(partition="helpdesk-eu").values_list("sequence", flat=True))
        gaps.append(set(range(seen[0], seen[-1] + 1)) - set(seen))
        return sent

    at_once(RACERS, send_and_look)
    every = set(Job.objects.values_list("sequence", flat=True))
    assert all(not gap & every for gap in gaps), "a number was seen before a smaller one that came later"
    assert EventRecord.objects.count() == RACERS * 3


def test_without_the_lock_racers_would_pass_the_bound() -> None:
    """The control: read the depth, then write it, as a check in Python would."""
    bound = 1
    QueueState.objects.get_or_create(queue="events")

    def take(number: int) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT jobs, pg_sleep(0.2) FROM ingestion_queuestate WHERE queue = 'events'")
            found = cursor.fetchone()[0]
            if found < bound:
                cursor.execute("UPDATE ingestion_queuestate SET jobs = jobs + 1 WHERE queue = 'events'")
            return bool(found < bound)

    assert sum(at_once(4, take)) > bound
    assert depth()[0] > bound


def test_an_accepted_event_is_committed_when_its_answer_is_made() -> None:
    verdict = admit_events(Producer().caller, [envelope.read(event(1))])[0]
    assert isinstance(verdict, Accepted)
    connection.close()
    assert EventRecord.objects.get().job_id == verdict.job_id
