"""Wrong shapes and sizes are refused with the field named; quotas refuse with the time to wait."""

import re

import pytest

from simulator.tests.running import Provider

WRONG_EMBEDDINGS: list[tuple[dict[str, object], str | None]] = [
    ({"model": "embed-small"}, "input"),
    ({"model": "embed-small", "input": []}, "input"),
    ({"model": "embed-small", "input": ["good", ""]}, "input"),
    ({"model": "embed-small", "input": [[]]}, "input"),
    ({"model": "embed-small", "input": [1, "x"]}, "input"),
    ({"model": "embed-small", "input": [[-1]]}, "input"),
    ({"model": "embed-small", "input": [[9_999_999]]}, "input"),
    ({"model": "embed-small", "input": {"a": 1}}, "input"),
    ({"model": "embed-small", "input": "x", "dimensions": 385}, "dimensions"),
    ({"model": "embed-small", "input": "x", "dimensions": 0}, "dimensions"),
    ({"model": "embed-small", "input": "x", "encoding_format": "hex"}, "encoding_format"),
    ({"input": "x"}, "model"),
    ({"model": "embed-small", "input": ["x"] * 2049}, "input"),
    ({"model": "embed-small", "input": "word " * 8193}, None),
]
MESSAGE = [{"role": "user", "content": "Hi"}]
CHAT_OF_HALF_A_CHARACTER = rb'{"model": "chat-small", "messages": [{"role": "user", "content": "\udc00 Hi"}]}'
WRONG_CHATS: list[tuple[dict[str, object], str]] = [
    ({"model": "chat-small"}, "messages"),
    ({"model": "chat-small", "messages": []}, "messages"),
    ({"model": "chat-small", "messages": ["Hi"]}, "messages[0]"),
    ({"model": "chat-small", "messages": [{"role": ["user"], "content": "Hi"}]}, "messages[0].role"),
    ({"model": "chat-small", "messages": [{"role": "user"}]}, "messages[0].content"),
    ({"model": "chat-small", "messages": MESSAGE, "temperature": 3}, "temperature"),
    ({"model": "chat-small", "messages": MESSAGE, "max_tokens": 0}, "max_tokens"),
    ({"model": "chat-small", "messages": MESSAGE, "n": 2}, "n"),
    ({"model": "chat-small", "messages": MESSAGE, "stream": "yes"}, "stream"),
    ({"model": "chat-small", "messages": MESSAGE, "stream_options": {}}, "stream_options"),
    ({"model": "chat-small", "messages": [{"role": "user", "content": "word " * 130_000}]}, "messages"),
]


@pytest.mark.parametrize(("body", "param"), WRONG_EMBEDDINGS)
def test_an_embeddings_request_of_a_wrong_shape_is_400(
    provider: Provider, body: dict[str, object], param: str | None
) -> None:
    answer = provider.http.post("/v1/embeddings", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.json()["error"]["param"] == param


@pytest.mark.parametrize(("body", "param"), WRONG_CHATS)
def test_a_chat_of_a_wrong_shape_is_400(provider: Provider, body: dict[str, object], param: str) -> None:
    answer = provider.http.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_what_is_no_json_no_route_or_no_method_is_told_in_the_same_form(provider: Provider) -> None:
    for answer, status in (
        (provider.http.post("/v1/embeddings", content=b"{"), 400),
        (provider.http.post("/v1/embeddings", content=b"[" * 100_000), 400),
        (provider.http.post("/v1/embeddings", content=b"\xff\xfe"), 400),
        (provider.http.post("/v1/embeddings", content=rb'{"model": "embed-small", "input": "\ud800"}'), 400),
        (provider.http.post("/v1/chat/completions", content=CHAT_OF_HALF_A_CHARACTER), 400),
        (provider.http.post("/v1/embeddings", json=[1]), 400),
        (provider.http.post("/v1/other", json={}), 404),
        (provider.http.get("/v1/embeddings"), 405),
        (provider.http.post("/v1/embeddings", json={}, headers={"Authorization": ""}), 401),
    ):
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
        assert answer.headers["x-request-id"]


def test_a_request_above_the_token_sum_names_its_own_code(provider: Provider) -> None:
    answer = provider.embed(*["word " * 8000] * 38)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "max_tokens_per_request")


def test_token_quotas_refuse_with_the_exact_wait_and_charge_nothing(provider: Provider) -> None:
    first = provider.embed(*["word " * 8000] * 10)
    assert first.status_code == 200
    used = first.json()["usage"]["total_tokens"]
    assert used > 79_000
    answer = provider.embed(*["word " * 8000] * 3)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (429, "tokens", "rate_limit_exceeded")
    found = re.search(
        r"Limit (\d+), Used (\d+), Requested (\d+)\. Please try again in ([\d.]+)(ms|s)\.", error["message"]
    )
    assert found is not None
    limit, taken, requested = (int(found[place]) for place in (1, 2, 3))
    wait = float(found[4]) / (1000 if found[5] == "ms" else 1)
    assert wait == pytest.approx((taken + requested - limit) / limit * 60, abs=0.01)
    assert int(answer.headers["retry-after"]) == max(1, -(-int(answer.headers["retry-after-ms"]) // 1000))
    assert provider.ledger()["totals"] == {"calls": 2, "tokens": used, "by_status": {"200": 1, "429": 1}}


def test_a_request_above_the_limit_itself_is_too_large_and_is_told_no_wait(provider: Provider) -> None:
    provider.control("mode", {"mode": "quota"})
    answer = provider.embed(*["word " * 6000] * 2)
    assert answer.status_code == 429
    assert answer.json()["error"]["message"].startswith("Request too large for embed-small")
    assert "retry-after" not in answer.headers
    assert answer.headers["x-ratelimit-limit-tokens"] == "10000"
    assert answer.headers["x-ratelimit-remaining-tokens"] == "10000"


def test_the_quota_mode_clips_live_limits(provider: Provider) -> None:
    assert provider.chat().headers["x-ratelimit-limit-requests"] == "100"
    provider.control("mode", {"mode": "quota"})
    answer = provider.chat()
    assert answer.headers["x-ratelimit-limit-requests"] == "10"
    assert answer.headers["x-ratelimit-remaining-requests"] == "9"
    provider.control("reset")
    assert provider.chat().headers["x-ratelimit-remaining-requests"] == "99"
