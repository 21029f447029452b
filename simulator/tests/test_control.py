"""The ledger tells what reached the provider; modes and resets hold from the next call on."""

from datetime import UTC, datetime

import pytest

from simulator.ledger import Ledger
from simulator.options import Options
from simulator.tests.running import Provider, running, until


def test_it_lists_every_call_with_what_it_cost(provider: Provider) -> None:
    answer = provider.http.post(
        "/v1/embeddings",
        json={"model": "embed-small", "input": ["a", "b"]},
        headers={"X-Client-Request-Id": "job-7"},
    )
    provider.http.post("/v1/chat/completions", content=b"{")
    ledger = provider.ledger()
    first, second = ledger["calls"]
    assert first["path"] == "embeddings"
    assert (first["status"], first["tokens"], first["inputs"]) == (200, answer.json()["usage"]["total_tokens"], 2)
    assert (first["client_request_id"], first["model"]) == ("job-7", "embed-small")
    assert first["latency_seconds"] >= 0
    assert abs((datetime.now(UTC) - datetime.fromisoformat(first["at"])).total_seconds()) < 60
    assert (second["path"], second["status"], second["tokens"]) == ("chat/completions", 400, 0)
    assert (second["client_request_id"], second["inputs"]) == (None, 0)
    assert ledger["totals"] == {"calls": 2, "tokens": first["tokens"], "by_status": {"200": 1, "400": 1}}
    assert len(provider.http.get("/_control/ledger?last=1").json()["calls"]) == 1


def test_its_list_is_bounded_and_its_totals_are_exact() -> None:
    ledger = Ledger(kept=3)
    for number in range(5):
        call = ledger.open("embeddings", str(number))
        ledger.charge(call, 10)
        ledger.settle(call, 200)
    shown = ledger.as_json()
    assert [call["client_request_id"] for call in shown["calls"]] == ["2", "3", "4"]  # type: ignore[attr-defined]  # a list
    assert shown["totals"] == {"calls": 5, "tokens": 50, "by_status": {"200": 5}}


def test_an_outage_answers_503_at_once_on_both_paths_and_charges_nothing(provider: Provider) -> None:
    assert provider.control("mode", {"mode": "outage"}).json() == {"mode": "outage"}
    assert provider.embed("x").status_code == provider.chat().status_code == 503
    assert provider.chat().json()["error"]["type"] == "server_error"
    assert provider.ledger()["totals"] == {"calls": 3, "tokens": 0, "by_status": {"503": 3}}
    provider.control("mode", {"mode": "normal"})
    assert provider.embed("x").status_code == 200


def test_a_reset_brings_back_the_mode_of_the_start() -> None:
    with running(Options(mode="outage", latency_scale=0.0)) as provider:
        provider.control("mode", {"mode": "normal"})
        provider.order("embeddings", "status:500")
        assert provider.chat().status_code == 200
        assert provider.control("reset").json() == {"mode": "outage"}
        assert provider.embed("x").status_code == 503
        assert provider.ledger()["totals"]["calls"] == 1
        assert provider.http.get("/healthz").json() == {"status": "ok", "mode": "outage"}


@pytest.mark.parametrize("body", [{}, [], {"mode": "fast"}, {"mode": None}, "outage"])
def test_an_unknown_mode_is_400_and_changes_nothing(provider: Provider, body: object) -> None:
    answer = provider.control("mode", body)
    assert answer.status_code == 400
    assert "normal, quota, outage, slow, flaky" in answer.json()["error"]["message"]
    assert provider.embed("x").status_code == 200


def test_a_client_that_leaves_early_is_charged_and_has_no_answer() -> None:
    with running(Options(latency_scale=100.0)) as provider:
        with pytest.raises(Exception, match="timed out"):
            provider.client.with_options(timeout=0.3).embeddings.create(model="embed-small", input="x")
        until(lambda: provider.ledger()["totals"]["calls"] == 1)
        call = provider.ledger()["calls"][0]
        assert (call["status"], call["tokens"]) == (0, 1)
