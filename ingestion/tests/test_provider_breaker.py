"""The breaker that all processes share: who is charged for an outage, and how work resumes."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from ingestion.models import ProviderState
from ingestion.provider import client, ledger, pacing
from ingestion.provider.client import CallContext
from ingestion.provider.errors import NotNow, ProviderError, ProviderFailed
from ingestion.provider.ledger import Order
from ingestion.provider.verdicts import Ending
from ingestion.tests.simulated import Simulator, shared_simulator

BULK = CallContext("bulk", "summary")
ORDER = Order("chat", "chat-small", 1, 1, BULK)
ASK = [{"role": "user", "content": "hello"}]
DOWN = Ending("server_error", "down", status=503)
WELL = Ending("ok", charged=1)


@pytest.fixture
def provider(settings: Settings, transactional_db: None) -> Simulator:
    simulator = shared_simulator()
    simulator.reset()
    settings.PROVIDER_BASE_URL = simulator.base_url
    settings.BREAKER_FAILURES = 3
    settings.BREAKER_OPEN_SECONDS = 10.0
    return simulator


def outcome_of_chat() -> str:
    try:
        client.chat(ASK, context=BULK, max_tokens=10)
    except ProviderError as error:
        return error.code
    return "ok"


def let_the_open_time_pass() -> None:
    ProviderState.objects.update(open_until=Now())


def open_seconds() -> float:
    with pytest.raises(NotNow, match="provider_outage") as wait:
        ledger.begin(ORDER)
    return wait.value.wait_seconds


def code_of(identity: str, ending: Ending = DOWN) -> str:
    """What the settlement means for the caller."""
    with pytest.raises(ProviderError) as error:
        ledger.settle(ORDER, identity, ending)
    return error.value.code


def test_an_outage_charges_the_first_tries_and_nobody_after(provider: Simulator) -> None:
    provider.mode("outage")
    assert [outcome_of_chat() for _ in range(3)] == ["provider_503"] * 3
    for _ in range(5):
        assert outcome_of_chat() == "provider_outage"
    let_the_open_time_pass()
    # A failed probe charges nobody either.
    assert outcome_of_chat() == "provider_outage"
    assert provider.ledger()["totals"]["calls"] == 4


def test_calls_in_flight_when_it_opens_are_charged_to_nobody(provider: Simulator) -> None:
    identities = [ledger.begin(ORDER) for _ in range(6)]
    codes = [code_of(one) for one in identities]
    assert codes == ["provider_503"] * 3 + ["provider_outage"] * 3


def test_work_resumes_by_itself_once_a_probe_succeeds(provider: Simulator) -> None:
    provider.mode("outage")
    for _ in range(3):
        outcome_of_chat()
    assert pacing.snapshot()["state"] == "open"
    assert "503" in str(pacing.snapshot()["reason"])
    provider.mode("normal")
    assert outcome_of_chat() == "provider_outage"
    let_the_open_time_pass()
    assert [outcome_of_chat() for _ in range(3)] == ["ok"] * 3
    state = ProviderState.objects.get()
    assert (state.state, state.failures, state.openings, state.open_until) == ("closed", 0, 0, None)
    assert pacing.snapshot()["state"] == "ok"


def test_each_failed_probe_doubles_the_open_time_to_ten_times_at_most(provider: Simulator) -> None:
    provider.mode("outage")
    for _ in range(3):
        outcome_of_chat()
    seen = [open_seconds()]
    for _ in range(5):
        let_the_open_time_pass()
        assert outcome_of_chat() == "provider_outage"
        seen.append(open_seconds())
    assert seen == pytest.approx([10, 20, 40, 80, 100, 100], abs=1.0)


def test_one_probe_at_a_time_and_a_dead_prober_is_replaced(provider: Simulator, settings: Settings) -> None:
    settings.BREAKER_FAILURES = 1
    with pytest.raises(ProviderFailed):
        ledger.settle(ORDER, ledger.begin(ORDER), DOWN)
    let_the_open_time_pass()
    assert pacing.gate().is_probe
    dead = ledger.begin(ORDER)
    assert pacing.snapshot()["state"] == "half_open"
    assert 0 < open_seconds() <= 1.0
    assert (pacing.gate().is_probe, pacing.gate().chat.room) == (False, 0)
    ProviderState.objects.update(probe_until=Now())
    living = ledger.begin(ORDER)
    # The dead one's late word moves nothing.
    assert code_of(dead) == "provider_outage"
    assert pacing.snapshot()["state"] == "half_open"
    ledger.settle(ORDER, living, WELL)
    assert pacing.snapshot()["state"] == "ok"


def test_a_probe_covers_both_lanes(provider: Simulator, settings: Settings) -> None:
    settings.BREAKER_FAILURES = 1
    assert code_of(ledger.begin(ORDER)) == "provider_503"
    let_the_open_time_pass()
    ledger.begin(ORDER)
    with pytest.raises(NotNow):
        client.embed(["hello"], context=CallContext("question", "search"), token_count=1)


def test_a_success_between_ends_the_row_of_failures(provider: Simulator) -> None:
    for _ in range(3):
        for _ in range(2):
            assert code_of(ledger.begin(ORDER)) == "provider_503"
        ledger.settle(ORDER, ledger.begin(ORDER), WELL)
    assert ProviderState.objects.get().failures == 0


def test_the_last_good_answers_from_before_an_outage_do_not_stretch_it(provider: Simulator) -> None:
    early = [ledger.begin(ORDER) for _ in range(3)]
    codes = []
    for one in early:
        codes.append(code_of(ledger.begin(ORDER)))
        ledger.settle(ORDER, one, WELL)
    assert codes == ["provider_503"] * 3
    assert pacing.snapshot()["state"] == "open"


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (Ending("malformed", "no rows"), "provider_malformed"),
        (Ending("refused", "too large", status=400), "provider_refused"),
        (Ending("rate_limited", block_seconds=0.0), "provider_quota"),
    ],
)
def test_answers_of_a_living_provider_open_nothing_and_close_it_as_a_probe(
    provider: Simulator, ending: Ending, code: str, settings: Settings
) -> None:
    for _ in range(5):
        assert code_of(ledger.begin(ORDER), ending) == code
    assert pacing.snapshot()["state"] == "ok"
    settings.BREAKER_FAILURES = 1
    assert code_of(ledger.begin(ORDER)) == "provider_503"
    let_the_open_time_pass()
    assert code_of(ledger.begin(ORDER), ending) == code
    assert pacing.snapshot()["state"] == "ok"
    # It was no success: should trouble return at once, the open time goes on doubling.
    assert ProviderState.objects.get().openings == 1


def test_a_refused_connection_is_a_failure_that_takes_no_quota(provider: Simulator, settings: Settings) -> None:
    settings.PROVIDER_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(ProviderFailed, match="provider_disconnected"):
        client.embed(["hello"], context=BULK, token_count=40_000)
    assert pacing.available("embeddings").used == 0
    assert ProviderState.objects.get().failures == 1


def test_the_open_time_runs_by_the_databases_clock(provider: Simulator, settings: Settings) -> None:
    settings.BREAKER_FAILURES = 1
    assert code_of(ledger.begin(ORDER)) == "provider_503"
    ProviderState.objects.update(open_until=F("open_until") - timedelta(seconds=9))
    assert 0 < open_seconds() < 1.01
