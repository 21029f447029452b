"""Calls against the simulated provider: what comes back, what is booked, and that both ledgers agree."""

import logging
from decimal import Decimal
from uuid import UUID

import pytest
from pytest_django import Settings

from ingestion.models import Caller, Job, ProviderCall
from ingestion.provider import client, ledger, prices
from ingestion.provider.client import CallContext, ChatReply
from ingestion.provider.errors import NotNow, ProviderFailed, ProviderRefused
from ingestion.tests.simulated import Simulator, shared_simulator

BULK = CallContext("bulk", "embed")
QUESTION = CallContext("question", "answer")
ASK = [{"role": "user", "content": "Summarize this policy version\n\nTitle: Returns\n\nReturn goods within 30 days."}]


@pytest.fixture
def provider(settings: Settings, transactional_db: None) -> Simulator:
    simulator = shared_simulator()
    simulator.reset()
    settings.PROVIDER_BASE_URL = simulator.base_url
    settings.PROVIDER_TIMEOUT_SECONDS = 2.0
    settings.BREAKER_FAILURES = 50
    settings.PROVIDER_API_KEY = "a-secret-key"
    return simulator


def a_job() -> UUID:
    caller = Caller.objects.create(name="kwame")
    job = Job.objects.create(queue="documents", kind="ingest_version", caller=caller, max_attempts=5, units=1, bytes=1)
    job.refresh_from_db()
    return job.id


def test_a_chat_call_is_answered_and_booked_with_its_cost(provider: Simulator) -> None:
    reply = client.chat(ASK, context=BULK, max_tokens=100)
    call = ProviderCall.objects.get()
    assert "30 days" in reply.text
    assert (call.outcome, call.status, call.lane, call.reserved) == ("ok", 200, "chat", 1)
    assert call.cost_usd == reply.cost_usd == prices.cost("chat-small", reply.prompt_tokens, reply.completion_tokens)
    assert call.finished_at is not None


def test_embeddings_come_in_the_order_of_the_inputs(provider: Simulator) -> None:
    texts = ["returns and refunds", "delivery times", "gift cards"]
    straight = client.embed(texts, context=BULK, token_count=7)
    provider.fault("embeddings", "shuffled")
    assert client.embed(texts, context=BULK, token_count=7).vectors == straight.vectors
    assert all(vector is not None and len(vector) == 384 for vector in straight.vectors)


def test_a_stream_gives_its_pieces_and_at_last_the_whole_answer(provider: Simulator) -> None:
    *pieces, reply = client.stream_chat(ASK, context=QUESTION, max_tokens=100)
    assert isinstance(reply, ChatReply)
    assert "".join(str(piece) for piece in pieces) == reply.text
    assert ProviderCall.objects.get().outcome == "ok"


def test_a_reader_that_leaves_a_stream_leaves_the_call_settled(provider: Simulator) -> None:
    stream = client.stream_chat(ASK, context=QUESTION, max_tokens=100)
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # it is a generator
    assert ProviderCall.objects.get().outcome == "abandoned"


def test_both_ledgers_name_the_same_calls_and_tokens(provider: Simulator) -> None:
    job = a_job()
    context = CallContext("bulk", "embed", job_id=job, generation=3)
    provider.faults(
        [
            {"path": "embeddings", "fault": "short", "times": 1},
            {"path": "embeddings", "fault": "nan", "times": 1},
            {"path": "embeddings", "fault": "status:500", "times": 1},
        ]
    )
    for _ in range(4):
        try:
            client.embed(["one text", "another text"], context=context, token_count=4)
        except ProviderFailed:
            continue
    client.chat(ASK, context=context, max_tokens=100)
    theirs = {call["client_request_id"]: (call["status"], call["tokens"]) for call in provider.ledger()["calls"]}
    ours = {
        call.client_request_id: (call.status, call.prompt_tokens + call.completion_tokens)
        for call in ProviderCall.objects.all()
    }
    assert ours == theirs
    assert all(identity.startswith(f"{job}-3-embed-") for identity in ours)
    calls, cost = ledger.cost_of_job(job)
    assert calls == 5
    assert cost == sum((call.cost_usd for call in ProviderCall.objects.all()), Decimal(0)) > 0


@pytest.mark.parametrize(
    ("fault", "code", "outcome"),
    [
        ("status:500", "provider_500", "server_error"),
        ("status:503", "provider_503", "server_error"),
        ("disconnect", "provider_disconnected", "disconnected"),
        ("error_body_200", "provider_malformed", "malformed"),
        ("short", "provider_malformed", "malformed"),
        ("duplicate_index", "provider_malformed", "malformed"),
    ],
)
def test_a_faulty_answer_fails_its_try_and_says_how(provider: Simulator, fault: str, code: str, outcome: str) -> None:
    provider.fault("embeddings", fault)
    with pytest.raises(ProviderFailed) as failed:
        client.embed(["a", "b"], context=BULK, token_count=2)
    assert (failed.value.code, failed.value.charges) == (code, True)
    assert ProviderCall.objects.get().outcome == outcome


def test_an_answer_that_never_comes_ends_at_the_deadline(provider: Simulator, settings: Settings) -> None:
    settings.PROVIDER_TIMEOUT_SECONDS = 0.3
    provider.fault("chat/completions", "timeout")
    with pytest.raises(ProviderFailed, match="provider_timeout"):
        client.chat(ASK, context=BULK, max_tokens=10)
    assert ProviderCall.objects.get().outcome == "timeout"


@pytest.mark.parametrize(("fault", "outcome"), [("disconnect", "disconnected"), ("error_body_200", "malformed")])
def test_a_stream_that_breaks_off_or_holds_an_error_fails(provider: Simulator, fault: str, outcome: str) -> None:
    provider.fault("chat/completions", fault)
    with pytest.raises(ProviderFailed):
        list(client.stream_chat(ASK, context=QUESTION, max_tokens=100))
    assert ProviderCall.objects.get().outcome == outcome


@pytest.mark.parametrize("fault", ["nan", "zero", "wrong_dimension"])
def test_one_bad_vector_does_not_sink_its_batch(provider: Simulator, fault: str) -> None:
    provider.fault("embeddings", fault)
    reply = client.embed(["a", "b", "c"], context=BULK, token_count=3)
    assert [vector is None for vector in reply.vectors] == [False, False, True]
    assert list(reply.bad) == [2]


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_request_that_can_never_succeed_is_refused_and_costs_nothing(provider: Simulator, status: int) -> None:
    provider.fault("chat/completions", f"status:{status}")
    with pytest.raises(ProviderRefused):
        client.chat(ASK, context=BULK, max_tokens=10)
    call = ProviderCall.objects.get()
    assert (call.outcome, call.status, call.cost_usd) == ("refused", status, Decimal(0))


def test_the_key_stands_in_no_log_error_or_row(provider: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.fault("chat/completions", "unauthorized")
    with pytest.raises(NotNow) as wait:
        client.chat(ASK, context=BULK, max_tokens=10)
    rows = str(list(ProviderCall.objects.values()))
    assert "a-secret-key" not in caplog.text + str(wait.value) + rows


def test_reachability_is_told_in_one_line(provider: Simulator, settings: Settings) -> None:
    assert client.check_reachable() is None
    settings.PROVIDER_BASE_URL = "http://127.0.0.1:9/v1"
    line = client.check_reachable()
    assert line is not None
    assert "127.0.0.1:9/v1/models" in line
    assert "\n" not in line
