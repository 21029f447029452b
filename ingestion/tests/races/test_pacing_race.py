"""Many reserve from one bucket at the same moment: together never more than it holds."""

from threading import Barrier

import pytest
from pytest_django import Settings

from ingestion.models import ProviderCall, ProviderLane
from ingestion.provider import ledger
from ingestion.provider.client import CallContext
from ingestion.provider.errors import NotNow
from ingestion.provider.ledger import Order
from ingestion.provider.verdicts import Ending
from ingestion.tests.races.meeting import at_once

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 8
# Each holds a connection while it waits for the others, and the pool has few.
UNGUARDED = 4
QUESTION = CallContext("question", "answer")
BULK = CallContext("bulk", "embed")


@pytest.fixture(autouse=True)
def _quota(settings: Settings) -> None:
    # A minute of 1000 refills 17 a second: a request of 100 does not come back during the race.
    settings.EMBEDDING_TOKENS_PER_MINUTE = 1000
    settings.QUESTION_SHARE = 0.2


def reserve(context: CallContext) -> bool:
    try:
        ledger.begin(Order("embeddings", "embed-small", 100, 1, context))
    except NotNow:
        return False
    return True


@pytest.mark.parametrize(("context", "granted"), [(QUESTION, 10), (BULK, 8)])
def test_together_they_reserve_what_the_bucket_holds_and_not_one_more(context: CallContext, granted: int) -> None:
    won = at_once(THREADS, lambda _: sum(reserve(context) for _ in range(3)))
    assert sum(won) == granted
    assert ProviderCall.objects.count() == granted


def test_without_the_guard_they_reserve_too_much() -> None:
    """The control: reading the level first and writing it afterwards lets everybody through."""
    ledger.settle(
        order := Order("embeddings", "embed-small", 100, 1, QUESTION), ledger.begin(order), Ending("ok", charged=100)
    )
    ProviderLane.objects.update(level=100)
    read = Barrier(UNGUARDED)

    def reserve_unguarded(_: int) -> bool:
        level = ProviderLane.objects.values_list("level", flat=True).get(name="embeddings")
        read.wait(timeout=20)
        if level < 100:
            return False
        ProviderLane.objects.filter(name="embeddings").update(level=level - 100)
        return True

    assert sum(at_once(UNGUARDED, reserve_unguarded)) > 1


def test_reservations_and_settlements_meet_without_a_deadlock_and_the_sum_is_exact(settings: Settings) -> None:
    settings.EMBEDDING_TOKENS_PER_MINUTE = 1_000_000
    order = Order("embeddings", "embed-small", 1000, 1, QUESTION)

    def work(_: int) -> int:
        for _ in range(10):
            ledger.settle(order, ledger.begin(order), Ending("ok", charged=1000))
        return 10

    assert sum(at_once(THREADS, work)) == 80
    lane = ProviderLane.objects.get(name="embeddings")
    first, last = (ProviderCall.objects.order_by(field)[0] for field in ("started_at", "-finished_at"))
    assert last.finished_at is not None
    refilled = (last.finished_at - first.started_at).total_seconds() * 1_000_000 / 60
    assert 920_000 <= lane.level <= 920_000 + refilled + 1000


def test_one_caller_alone_probes_a_paused_lane() -> None:
    order = Order("embeddings", "embed-small", 1, 1, QUESTION)
    with pytest.raises(NotNow):
        ledger.settle(order, ledger.begin(order), Ending("unauthorized", pause_reason="No key."))
    ProviderLane.objects.update(paused_until="2026-01-01T00:00:00Z")
    assert sum(at_once(THREADS, lambda _: reserve(QUESTION))) == 1
