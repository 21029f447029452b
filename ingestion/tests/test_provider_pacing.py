"""The shared quota: what is reserved, given back, learnt from the provider, blocked and paused."""

import json
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from ingestion.models import ProviderCall, ProviderLane
from ingestion.provider import client, ledger, pacing
from ingestion.provider.client import CallContext
from ingestion.provider.errors import NotNow, ProviderRefused
from ingestion.provider.ledger import Order
from ingestion.provider.verdicts import Ending, Lane
from ingestion.tests.odd_provider import OddProvider, answering
from ingestion.tests.simulated import Simulator, shared_simulator

BULK = CallContext("bulk", "embed")
QUESTION = CallContext("question", "answer")
ASK = [{"role": "user", "content": "hello"}]


@pytest.fixture
def provider(settings: Settings, transactional_db: None) -> Simulator:
    simulator = shared_simulator()
    simulator.reset()
    settings.PROVIDER_BASE_URL = simulator.base_url
    settings.QUESTION_SHARE = 0.2
    return simulator


def order(need: int, lane: Lane = "embeddings", context: CallContext = BULK) -> Order:
    return Order(lane, "embed-small", need, 1, context)


def refused(wanted: Order) -> NotNow:
    with pytest.raises(NotNow) as wait:
        ledger.begin(wanted)
    return wait.value


def test_bulk_leaves_the_questions_their_share(provider: Simulator) -> None:
    ledger.begin(order(80_000))
    wait = refused(order(2_000))
    assert wait.reason == "provider_quota"
    assert 1.0 < wait.wait_seconds < 1.3
    ledger.begin(order(19_000, context=QUESTION))


def test_a_refused_reservation_takes_nothing_and_books_nothing(provider: Simulator) -> None:
    ledger.begin(order(80_000))
    before = ProviderLane.objects.values().get(name="embeddings")
    refused(order(50_000))
    assert ProviderLane.objects.values().get(name="embeddings") == before
    assert ProviderCall.objects.count() == 1


def test_a_wait_that_was_obeyed_to_the_moment_is_enough(provider: Simulator) -> None:
    ledger.begin(order(80_000))
    wait = refused(order(40_000))
    # As if the time had passed: the bucket was last seen that much earlier.
    ProviderLane.objects.update(level_at=F("level_at") - timedelta(seconds=wait.wait_seconds))
    ledger.begin(order(40_000))


def test_a_request_above_the_bulk_share_runs_from_a_full_bucket_only(provider: Simulator) -> None:
    ledger.begin(order(90_000))
    assert refused(order(90_000)).wait_seconds > 50


def test_a_request_above_the_minute_can_never_succeed(provider: Simulator) -> None:
    with pytest.raises(ProviderRefused, match="100001"):
        ledger.begin(order(100_001))


def test_what_was_not_used_is_given_back(provider: Simulator) -> None:
    reply = client.embed(["a few words only"], context=BULK, token_count=50_000)
    assert 0 < reply.tokens < 10
    assert pacing.available("embeddings").used < 20


def test_a_call_of_unknown_outcome_keeps_its_reservation_and_a_refused_one_does_not(provider: Simulator) -> None:
    for charged, used in ((None, 40_000), (0, 0)):
        ProviderLane.objects.all().delete()
        wanted = order(40_000)
        ledger.settle(wanted, ledger.begin(wanted), Ending("abandoned", charged=charged))
        assert pacing.available("embeddings").used == pytest.approx(used, abs=1_000)


def test_settling_twice_books_once(provider: Simulator) -> None:
    wanted = order(10_000)
    identity = ledger.begin(wanted)
    for _ in range(3):
        ledger.settle(wanted, identity, Ending("ok", charged=5_000))
    assert pacing.available("embeddings").used == pytest.approx(5_000, abs=500)


def test_a_question_waits_a_moment_for_its_tokens(provider: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        ProviderLane.objects.update(level_at=F("level_at") - timedelta(seconds=seconds))

    monkeypatch.setattr(client, "sleep", sleep)
    ledger.begin(order(100_000, context=QUESTION))
    assert client.embed(["hello"], context=QUESTION, token_count=2_000).tokens == 1
    assert 1.0 < sum(slept) < 1.3
    # Bulk is told to come back instead, and so is a question that would wait too long.
    for context, need in ((BULK, 1_000), (QUESTION, 50_000)):
        with pytest.raises(NotNow):
            client.embed(["hello"], context=context, token_count=need)
    assert len(slept) == 1


def test_a_quota_cut_by_the_provider_is_learnt_from_its_first_answer_and_so_is_its_return(
    provider: Simulator,
) -> None:
    provider.mode("quota")
    client.chat(ASK, context=BULK, max_tokens=10)
    client.embed(["hello"], context=BULK, token_count=1)
    assert pacing.snapshot()["chat"]["limit"] == 10
    assert pacing.largest_batch_tokens() == 8_192
    # More than the cut minute holds: not refused for good, since the limit may return.
    assert refused(order(20_000)).reason == "provider_quota"
    provider.mode("normal")
    client.chat(ASK, context=BULK, max_tokens=10)
    assert pacing.snapshot()["chat"]["limit"] == 100


def test_the_provider_never_raises_the_limit_above_the_configured_one(provider: Simulator, settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 30
    client.chat(ASK, context=BULK, max_tokens=10)
    assert pacing.snapshot()["chat"]["limit"] == 30
    settings.CHAT_REQUESTS_PER_MINUTE = 60
    assert pacing.snapshot()["chat"]["limit"] == 60


def test_less_left_than_we_thought_lowers_our_bucket(provider: Simulator, settings: Settings) -> None:
    body = json.dumps({"error": {"message": "No.", "code": "x"}}).encode()
    with OddProvider(answering(400, body, {"x-ratelimit-remaining-requests": "3"})) as odd:
        settings.PROVIDER_BASE_URL = odd.base_url
        with pytest.raises(ProviderRefused):
            client.chat(ASK, context=BULK, max_tokens=10)
    assert pacing.available("chat").used == 96


def test_a_rate_limited_call_waits_as_told_and_costs_no_attempt(provider: Simulator) -> None:
    for _ in range(3):
        provider.fault("chat/completions", "status:429")
    with pytest.raises(NotNow) as wait:
        client.chat(ASK, context=BULK, max_tokens=10)
    assert (wait.value.reason, 0.8 < wait.value.wait_seconds <= 1.0) == ("provider_quota", True)
    # The lane is blocked for everybody: this one does not even reach the provider.
    assert refused(order(1, "chat")).until == wait.value.until
    assert len(provider.ledger()["calls"]) == 1
    gate = pacing.gate()
    assert (gate.chat.room, gate.chat.blocked_reason, gate.chat.next_at) == (0, "provider_quota", wait.value.until)
    assert gate.embeddings.room == 80_000
    assert ProviderCall.objects.get().outcome == "rate_limited"


@pytest.mark.parametrize(
    ("fault", "word", "outcome"),
    [("insufficient_quota", "quota", "insufficient_quota"), ("unauthorized", "key", "unauthorized")],
)
def test_what_no_wait_mends_pauses_the_lane_until_a_probe_succeeds(
    provider: Simulator, fault: str, word: str, outcome: str
) -> None:
    provider.fault("embeddings", fault, 2)
    for expected_calls in (1, 2):
        with pytest.raises(NotNow) as wait:
            client.embed(["hello"], context=BULK, token_count=1)
        assert wait.value.reason == "provider_quota"
        assert 55 < wait.value.wait_seconds <= 60
        refused(order(1, context=QUESTION))
        assert len(provider.ledger()["calls"]) == expected_calls
        snapshot = pacing.snapshot()
        assert snapshot["state"] == "paused"
        assert word in str(snapshot["reason"])
        ProviderLane.objects.filter(name="embeddings").update(paused_until=Now())
    assert pacing.gate().embeddings.is_probe
    identity = ledger.begin(order(1))
    # While the probe is under way nobody follows it.
    assert refused(order(1)).wait_seconds > 55
    ledger.settle(order(1), identity, Ending("ok", charged=1))
    assert pacing.snapshot()["state"] == "ok"
    assert ProviderLane.objects.get(name="embeddings").pause_reason == ""
    client.embed(["hello"], context=BULK, token_count=1)
    assert outcome in ProviderCall.objects.values_list("outcome", flat=True)


def test_a_good_answer_from_before_a_pause_does_not_end_it(provider: Simulator) -> None:
    early, late = ledger.begin(order(1)), ledger.begin(order(1))
    with pytest.raises(NotNow):
        ledger.settle(order(1), late, Ending("unauthorized", pause_reason="No key."))
    ledger.settle(order(1), early, Ending("ok", charged=1))
    assert pacing.snapshot()["state"] == "paused"


def test_the_gate_says_when_a_batch_fits_again(provider: Simulator) -> None:
    ledger.begin(order(80_000))
    gate = pacing.gate(smallest_embeddings=10_000)
    assert gate.embeddings.room < 500
    assert 5.5 < (gate.embeddings.next_at - gate.now).total_seconds() < 6.01
    assert gate.chat.next_at == gate.now


def test_the_largest_batch_leaves_room_for_others(provider: Simulator, settings: Settings) -> None:
    assert pacing.largest_batch_tokens() == 40_000
    settings.EMBEDDING_TOKENS_PER_MINUTE = 5_000
    assert pacing.largest_batch_tokens() == 5_000
    settings.EMBEDDING_TOKENS_PER_MINUTE = 10_000_000
    assert pacing.largest_batch_tokens() == 300_000
