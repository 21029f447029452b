"""The ledger balances: every offered event is in one number, whatever became of it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import LazySettings

from ingestion.models import EventRecord, Job
from ingestion.queue import controlling, sweeping
from ingestion.tests.eventing import Producer, claims, depth, document, event, live_depth, work

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_outcome_is_counted_once(settings: LazySettings) -> None:
    settings.EVENTS_QUEUE_MAX = 6
    document()
    producer = Producer()
    # One each that will be completed, quarantined, expired, cancelled, running and queued.
    producer.send(1)
    producer.send(2, payload={"document": "never", "version": 1})
    work()
    producer.send(3, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    Job.objects.filter(event__event_id="e-3").update(expires_at=datetime.now(UTC))
    sweeping.expire()
    producer.send(4)
    controlling.cancel([EventRecord.objects.get(event_id="e-4").job_id])
    producer.send(5, partition="a")
    claims()
    producer.batch([event(number, partition="b") for number in (6, 7, 8)])
    # Two fill the bound, then one is refused; what is known is known.
    producer.batch([event(number) for number in (9, 10, 11)])
    producer.send(1)
    producer.send(1, payload={"other": 1})
    producer.send(12, type="unknown")
    producer.post(b"{")
    producer.post({"events": []}, path="/v1/events/batch")
    numbers = producer.ledger()
    assert numbers == {
        "offered": 16, "accepted": 10, "replayed": 1, "rejected": 1, "invalid": 3, "conflict": 1,
        "completed": 1, "queued": 5, "running": 1, "quarantined": 1, "expired": 1, "cancelled": 1, "balanced": True,
    }  # fmt: skip
    assert depth() == live_depth()


def test_each_caller_has_its_own_ledger_and_an_operator_that_of_all() -> None:
    one, other, operator = Producer(), Producer("other"), Producer("operator", "operate")
    one.send(1)
    other.send(1)
    other.send(1, producer="other")
    assert (one.ledger()["offered"], other.ledger()["offered"], operator.ledger()["offered"]) == (1, 2, 3)
    assert operator.ledger()["accepted"] == 2


def test_an_empty_ledger_balances() -> None:
    assert set(Producer().ledger().values()) == {0, True}
