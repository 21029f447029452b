"""The pure readers of the provider's answers: headers, bodies, streams, prices."""

import base64
import json
import math
import struct
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.provider import headers, prices, verdicts
from ingestion.provider.shapes import Malformed, Usage, chat_shape, embedding_shape
from ingestion.provider.streaming import BrokenOff, Gathering, payloads
from ingestion.provider.verdicts import Read, Received

USAGE = {"prompt_tokens": 7, "total_tokens": 7}
CHAT = {
    "model": "chat-small",
    "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}


def encoded(*values: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def row(index: Any, embedding: object) -> dict[str, Any]:
    return {"index": index, "embedding": embedding}


def test_the_finer_wait_goes_first_and_a_reset_time_is_no_wait() -> None:
    found = {"retry-after": "3", "retry-after-ms": "1250", "x-ratelimit-reset-requests": "6m0s"}
    assert headers.wait_seconds(found, now=0) == 1.25
    assert headers.wait_seconds({"retry-after": "3"}, now=0) == 3
    assert headers.wait_seconds({"retry-after": formatdate(130, usegmt=True)}, now=100) == 30


@pytest.mark.parametrize("found", ["", "soon", "-5", "nan", "inf"])
def test_an_unreadable_wait_becomes_a_short_one(found: str) -> None:
    assert headers.wait_seconds({"retry-after": found}, now=0) == headers.DEFAULT_WAIT_SECONDS


@pytest.mark.parametrize("found", ["", "-1", "1e9", "many", "99999999999"])
def test_an_unreadable_quota_counts_as_not_said(found: str) -> None:
    assert headers.quota({"x-ratelimit-limit-tokens": found}, "tokens") == headers.NOT_SAID


def test_vectors_stand_in_the_order_of_the_inputs_whatever_order_they_came_in() -> None:
    body = {"data": [row(1, encoded(0, 1)), row(0, [1.0, 0.0])], "usage": USAGE}
    assert embedding_shape(body, 2, 2).vectors == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [],
        [row(0, encoded(1, 0))],
        [row(0, encoded(1, 0)), row(0, encoded(1, 0))],
        [row(0, encoded(1, 0)), row(2, encoded(1, 0))],
        [row(0, encoded(1, 0)), row(True, encoded(1, 0))],
        [row(0, encoded(1, 0)), "row"],
    ],
)
def test_missing_repeated_or_strange_rows_make_the_whole_batch_unusable_but_its_usage_counts(rows: Any) -> None:
    with pytest.raises(Malformed) as flaw:
        embedding_shape({"data": rows, "usage": USAGE}, 2, 2)
    assert flaw.value.usage == Usage(7)


@pytest.mark.parametrize(
    ("embedding", "word"),
    [
        (encoded(1, math.nan), "finite"),
        (encoded(1, math.inf), "finite"),
        (encoded(0, 0), "zero"),
        (encoded(1, 0, 0), "dimensions"),
        ("no base64!", "read"),
        (encoded(1, 0)[:-4], "read"),
        (["1", 0], "read"),
        (None, "read"),
    ],
)
def test_one_bad_vector_is_named_and_its_neighbour_kept(embedding: object, word: str) -> None:
    shape = embedding_shape({"data": [row(0, embedding), row(1, encoded(0, 1))], "usage": USAGE}, 2, 2)
    assert shape.vectors == [None, [0.0, 1.0]]
    assert word in shape.bad[0]


@pytest.mark.parametrize(
    "change",
    [
        {"choices": []},
        {"choices": [{"message": {"content": "  "}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "Yes."}}]},
        {"choices": ["Yes."]},
        {"usage": None},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 2}},
        {"usage": {"prompt_tokens": True, "completion_tokens": 2}},
        {"usage": {"prompt_tokens": 5, "completion_tokens": 10**12}},
    ],
)
def test_a_chat_answer_without_text_finish_or_sane_usage_is_malformed(change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        chat_shape(CHAT | change)


@given(st.lists(st.integers(1, 40), max_size=20))
def test_a_stream_reads_the_same_however_its_bytes_are_cut(cuts: list[int]) -> None:
    raw = b': hello\n\ndata: {"text": "\xc3\xa9t\xc3\xa9"}\r\n\r\nevent: x\ndata:[DONE]\n\n'
    chunks, start = [], 0
    for cut in cuts:
        chunks.append(raw[start : start + cut])
        start += cut
    assert list(payloads([*chunks, raw[start:]])) == ['{"text": "été"}', "[DONE]"]


def event(**fields: Any) -> str:
    return json.dumps({"model": "chat-small", **fields})


def test_a_stream_is_whole_only_once_it_said_so() -> None:
    gathering = Gathering()
    assert gathering.take(event(choices=[{"delta": {"content": "Yes"}}])) == "Yes"
    assert gathering.take(event(choices=[{"delta": {}, "finish_reason": "stop"}])) == ""
    assert gathering.take(event(choices=[], usage=CHAT["usage"])) == ""
    with pytest.raises(BrokenOff):
        gathering.whole()
    gathering.take("[DONE]")
    assert (gathering.whole().text, gathering.whole().usage) == ("Yes", Usage(5, 2))


@pytest.mark.parametrize("payload", ["{", "[]", '{"error": {"message": "overloaded"}}', '{"choices": [1]}'])
def test_an_event_that_cannot_be_read_makes_the_stream_malformed(payload: str) -> None:
    with pytest.raises(Malformed):
        Gathering().take(payload)


def judged(status: int, body: object, found: dict[str, str] | None = None, need: int = 1) -> verdicts.Ending:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    received = Received("embeddings", need, status, found or {}, raw)
    return verdicts.judge(received, lambda body: Read(body, Usage(7)), now=0).ending


def error(code: str | None = None, message: str = "No.", kind: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, {"data": []}, "ok"),
        (200, error(), "malformed"),
        (200, error("insufficient_quota"), "insufficient_quota"),
        (200, error("rate_limit_exceeded"), "rate_limited"),
        (200, b"<html>", "malformed"),
        (200, [], "malformed"),
        (204, b"", "malformed"),
        (302, b"", "malformed"),
        (400, error(), "refused"),
        (404, error("model_not_found"), "refused"),
        (422, b"[" * 100_000, "refused"),
        (401, error("invalid_api_key"), "unauthorized"),
        (403, error(), "unauthorized"),
        (408, error(), "server_error"),
        (429, error("rate_limit_exceeded"), "rate_limited"),
        (429, error(kind="insufficient_quota"), "insufficient_quota"),
        (500, error(), "server_error"),
        (529, b"", "server_error"),
    ],
)
def test_each_answer_is_judged_by_its_shape_not_by_its_status_alone(status: int, body: object, outcome: str) -> None:
    assert judged(status, body).outcome == outcome


def test_a_wait_of_a_day_pauses_the_lane_with_the_reason_in_sight() -> None:
    ending = judged(429, error("rate_limit_exceeded"), {"retry-after": "86400"})
    assert (ending.block_seconds, "86400" in ending.pause_reason) == (None, True)


def test_a_request_above_the_limit_is_refused_unless_the_limit_was_cut_below_it() -> None:
    too_large = error("rate_limit_exceeded", "Request too large for embed-small on tokens per min (TPM)")
    assert judged(429, too_large, {"x-ratelimit-limit-tokens": "100"}, need=50).outcome == "refused"
    assert judged(429, too_large, {"x-ratelimit-limit-tokens": "10"}, need=50).outcome == "rate_limited"


def test_an_error_text_is_safe_to_store() -> None:
    assert verdicts.clean("a\0b\ud800" + "x" * 1000) == "a b?" + "x" * 296


def test_prices_are_exact_decimals() -> None:
    assert prices.cost("chat-small", 1_000_000, 1_000_000) == Decimal("0.75")
    assert prices.cost("embed-small", 3) == Decimal("0.00000006")
    assert prices.cost("unknown", 3) == 0
