"""Faults on order happen once each, in their order, on their path, and spoil exactly what they name."""

import base64
import math
import threading
from array import array

import httpx
import openai
import pytest

from simulator.faults import FLAKY_MIX, FlakyDraw
from simulator.tests.running import Provider, until

TEXTS = ("one", "two", "three", "four")


def rows(answer: httpx.Response) -> list[tuple[int, list[float]]]:
    return [(row["index"], row["embedding"]) for row in answer.json()["data"]]


def call(provider: Provider, path: str) -> httpx.Response:
    return provider.embed("x") if path == "embeddings" else provider.chat()


@pytest.mark.parametrize("status", [400, 404, 429, 499, 500, 502, 503, 599])
@pytest.mark.parametrize("path", ["embeddings", "chat/completions"])
def test_a_status_is_answered_once_with_an_error_body(provider: Provider, path: str, status: int) -> None:
    provider.order(path, f"status:{status}")
    answer = call(provider, path)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert ("retry-after" in answer.headers) == (status == 429)
    assert call(provider, path).status_code == 200


def test_faults_happen_in_order_on_their_own_path(provider: Provider) -> None:
    provider.order("embeddings", "status:500", times=2)
    provider.order("embeddings", "unauthorized")
    assert provider.chat().status_code == 200
    assert [provider.embed("x").status_code for _ in range(4)] == [500, 500, 401, 200]
    assert provider.ledger()["totals"]["by_status"] == {"200": 2, "401": 1, "500": 2}


def test_an_account_without_credit_is_told_apart_from_a_full_quota(provider: Provider) -> None:
    provider.order("chat/completions", "insufficient_quota")
    with pytest.raises(openai.RateLimitError) as caught:
        provider.client.chat.completions.create(model="chat-small", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.code == "insufficient_quota"
    assert "retry-after" not in caught.value.response.headers


def test_a_connection_closes_without_an_answer(provider: Provider) -> None:
    provider.order("embeddings", "disconnect")
    with pytest.raises(httpx.RemoteProtocolError):
        provider.embed("x")
    call = provider.ledger()["calls"][0]
    assert (call["status"], call["tokens"]) == (0, 0)


def test_a_stream_breaks_off_midway(provider: Provider) -> None:
    provider.order("chat/completions", "disconnect")
    stream = provider.client.chat.completions.create(
        model="chat-small", messages=[{"role": "user", "content": "Hello there"}], stream=True
    )
    with pytest.raises((openai.APIError, httpx.HTTPError)):
        list(stream)
    assert provider.ledger()["totals"]["by_status"] == {"0": 1}


def test_an_error_hides_behind_a_200(provider: Provider) -> None:
    provider.order("embeddings", "error_body_200")
    provider.order("chat/completions", "error_body_200")
    answer = provider.embed("x")
    assert answer.status_code == 200
    assert set(answer.json()) == {"error"}
    with pytest.raises(openai.APIError):
        list(
            provider.client.chat.completions.create(
                model="chat-small", messages=[{"role": "user", "content": "Hi"}], stream=True
            )
        )


def test_shuffled_rows_keep_their_right_index(provider: Provider) -> None:
    right = rows(provider.embed(*TEXTS))
    provider.order("embeddings", "shuffled")
    mixed = rows(provider.embed(*TEXTS))
    assert mixed != right
    assert sorted(mixed) == sorted(right)


@pytest.mark.parametrize(("fault", "indexes"), [("short", [0, 1, 2]), ("duplicate_index", [0, 1, 2, 0])])
def test_rows_go_missing_or_share_an_index(provider: Provider, fault: str, indexes: list[int]) -> None:
    provider.order("embeddings", fault)
    assert [index for index, _ in rows(provider.embed(*TEXTS))] == indexes


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_not_a_number_is_really_sent(provider: Provider, encoding: str) -> None:
    provider.order("embeddings", "nan")
    good, bad = (row["embedding"] for row in provider.embed("one", "two", encoding_format=encoding).json()["data"])
    if encoding == "base64":
        good, bad = (array("f", base64.b64decode(text)) for text in (good, bad))
    assert all(math.isfinite(value) for value in good)
    assert all(math.isnan(value) for value in bad)


def test_vectors_come_zero_or_too_short(provider: Provider) -> None:
    provider.order("embeddings", "zero")
    provider.order("embeddings", "wrong_dimension")
    assert not any(rows(provider.embed("x"))[0][1])
    assert len(rows(provider.embed("x"))[0][1]) != 384


def test_a_fault_that_spoils_rows_waits_for_a_call_that_the_quota_takes(provider: Provider) -> None:
    provider.control("mode", {"mode": "quota"})
    provider.order("embeddings", "short")
    assert provider.embed(*["word " * 6000] * 2).status_code == 429
    assert rows(provider.embed("x")) == []


@pytest.mark.parametrize("release", ["mode", "reset"])
def test_a_call_that_hangs_is_cut_off_by_a_change_of_mode_or_a_reset(provider: Provider, release: str) -> None:
    provider.order("embeddings", "timeout")
    failures: list[Exception] = []

    def hang() -> None:
        try:
            httpx.post(
                f"{provider.root}/v1/embeddings",
                json={"model": "embed-small", "input": "x"},
                headers={"Authorization": "Bearer k"},
                timeout=30,
            )
        except httpx.HTTPError as error:
            failures.append(error)

    caller = threading.Thread(target=hang)
    caller.start()
    until(lambda: provider.http.get("/_control/faults").json()["faults"] == [])
    assert provider.ledger()["totals"]["by_status"] == {"0": 1}
    provider.control(release, {"mode": "normal"})
    caller.join(10)
    assert isinstance(failures[0], httpx.RemoteProtocolError)


def test_a_hung_call_ends_the_clients_wait_by_its_own_timeout(provider: Provider) -> None:
    provider.order("chat/completions", "timeout")
    with pytest.raises(openai.APITimeoutError):
        provider.client.with_options(timeout=0.2).chat.completions.create(
            model="chat-small", messages=[{"role": "user", "content": "Hi"}]
        )


@pytest.mark.parametrize(
    "body",
    [
        {},
        ["x"],
        [{"path": "other", "fault": "nan"}],
        [{"path": "embeddings", "fault": "unknown"}],
        [{"path": "embeddings"}],
        [{"path": "embeddings", "fault": "status:200"}],
        [{"path": "embeddings", "fault": "status:abc"}],
        [{"path": "chat/completions", "fault": "nan"}],
        [{"path": "embeddings", "fault": "nan", "times": 0}],
        [{"path": "embeddings", "fault": "nan", "times": True}],
        [{"path": "embeddings", "fault": "nan", "often": 3}],
        [{"path": "embeddings", "fault": "nan"}, {"path": "embeddings", "fault": "oops"}],
    ],
)
def test_a_wrong_order_is_400_and_orders_nothing(provider: Provider, body: object) -> None:
    answer = provider.control("faults", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]
    assert provider.http.get("/_control/faults").json() == {"faults": []}


def test_chance_keeps_its_shares_and_repeats_with_its_seed() -> None:
    def draws(seed: int) -> list[str | None]:
        draw = FlakyDraw(seed)
        return [draw.next("embeddings") for _ in range(10_000)]

    drawn = draws(1)
    assert drawn == draws(1) != draws(2)
    for fault, share in FLAKY_MIX:
        assert drawn.count(fault) / len(drawn) == pytest.approx(share, abs=0.02)


def test_the_flaky_mode_mixes_failures_into_answers(provider: Provider) -> None:
    provider.control("mode", {"mode": "flaky"})
    seen: set[object] = set()
    with httpx.Client(headers={"Authorization": "Bearer k"}, timeout=0.3) as client:
        for _ in range(60):
            try:
                answer = client.post(f"{provider.root}/v1/embeddings", json={"model": "embed-small", "input": "x"})
                seen.add(answer.status_code)
            except httpx.HTTPError as error:
                seen.add(type(error))
    assert {200, 500, 503, httpx.ReadTimeout, httpx.ReadError} <= seen
