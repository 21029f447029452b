"""Many calls fail or probe at the same moment: the breaker counts each once and lets one probe through."""

from threading import Barrier

import pytest
from django.db.models import F
from pytest_django import Settings

from ingestion.models import ProviderState
from ingestion.provider import ledger
from ingestion.provider.client import CallContext
from ingestion.provider.errors import NotNow, ProviderError
from ingestion.provider.ledger import Order
from ingestion.provider.verdicts import Ending
from ingestion.tests.races.meeting import at_once

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 8
# Each holds a connection while it waits for the others, and the pool has few.
UNGUARDED = 4
ORDERS = [
    Order("chat", "chat-small", 1, 1, CallContext("bulk", "summary")),
    Order("embeddings", "embed-small", 1, 1, CallContext("bulk", "embed")),
]
DOWN = Ending("timeout", "no answer")
PAST = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def _breaker(settings: Settings) -> None:
    settings.BREAKER_FAILURES = 5


def failure_code(number: int, identity: str) -> str:
    with pytest.raises(ProviderError) as error:
        ledger.settle(ORDERS[number % 2], identity, DOWN)
    return error.value.code


def begins(number: int) -> bool:
    try:
        ledger.begin(ORDERS[number % 2])
    except NotNow:
        return False
    return True


def test_of_many_failures_at_once_no_more_are_charged_than_the_breaker_allows() -> None:
    identities = [ledger.begin(ORDERS[number % 2]) for number in range(THREADS)]
    codes = at_once(THREADS, lambda number: failure_code(number, identities[number]))
    assert sorted(codes) == ["provider_outage"] * 3 + ["provider_timeout"] * 5
    state = ProviderState.objects.get()
    assert (state.state, state.failures, state.openings) == ("open", 5, 1)


def test_one_probe_at_a_time_over_both_lanes(settings: Settings) -> None:
    settings.BREAKER_FAILURES = 1
    for order in ORDERS:
        ledger.begin(order)
    assert failure_code(0, ledger.begin(ORDERS[0])) == "provider_timeout"
    for _ in range(5):
        ProviderState.objects.update(state="open", open_until=PAST, probe_until=None)
        assert sum(at_once(THREADS, begins)) == 1


def test_without_the_guard_several_probe() -> None:
    """The control: looking first and marking the probe afterwards lets several through."""
    ProviderState.objects.update_or_create(id=1, defaults={"state": "open", "open_until": PAST})
    looked = Barrier(UNGUARDED)

    def probe_unguarded(_: int) -> bool:
        is_due = ProviderState.objects.filter(state="open").exists()
        looked.wait(timeout=20)
        if is_due:
            ProviderState.objects.update(state="half_open", failures=F("failures"))
        return is_due

    assert sum(at_once(UNGUARDED, probe_unguarded)) > 1
