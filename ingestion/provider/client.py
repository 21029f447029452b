"""The calls that the rest of the product makes: chat, streamed chat, embeddings.

Each is paced, guarded by the breaker and booked; none runs inside a transaction or holds a connection while it
waits. Raises only what `errors.py` names. Nothing here decides what an answer means: `verdicts.py` does.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar, cast

from django.conf import settings

from ingestion.models import EmbeddingSpace, configured_space
from ingestion.provider import ledger, prices, transport, verdicts
from ingestion.provider.errors import NotNow
from ingestion.provider.ledger import CallContext, Order
from ingestion.provider.shapes import (
    ChatShape,
    EmbeddingShape,
    Malformed,
    chat_shape,
    embedding_shape,
    usage_of,
)
from ingestion.provider.streaming import BrokenOff, Gathering, payloads
from ingestion.provider.transport import Answer, TooLong, Unanswered, check_reachable
from ingestion.provider.verdicts import Ending, Read, Received, Verdict

__all__ = [
    "CallContext",
    "ChatReply",
    "EmbeddingReply",
    "chat",
    "check_reachable",
    "embed",
    "stream_chat",
]

T = TypeVar("T")

# A person waits: this long a question looks for quota before it is told to come back.
QUESTION_WAIT_SECONDS = 2.0
SHORTEST_PAUSE_SECONDS = 0.02

CHAT_PATH = "chat/completions"

# A name of its own, so that tests can switch the waiting off.
sleep = time.sleep

_CUT_SHORT = (Unanswered, TooLong, Malformed, BrokenOff)


@dataclass(frozen=True)
class ChatReply:
    """A whole answer and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    model: str
    cost_usd: Decimal


@dataclass(frozen=True)
class EmbeddingReply:
    """Vectors in the order of the inputs; None where one must not be stored, `bad` says why."""

    vectors: list[list[float] | None]
    bad: dict[int, str]
    tokens: int
    cost_usd: Decimal


def chat(messages: list[dict[str, str]], *, context: CallContext, max_tokens: int) -> ChatReply:
    """The model's answer to the messages; NotNow, ProviderFailed or ProviderRefused without one."""
    order = _chat_order(context)

    def read(body: dict[str, Any]) -> Read[ChatShape]:
        shape = chat_shape(body)
        return Read(shape, shape.usage)

    return _chat_reply(order, _call(order, CHAT_PATH, _chat_request(messages, max_tokens), read))


def embed(
    texts: list[str], *, context: CallContext, token_count: int, space: EmbeddingSpace | None = None
) -> EmbeddingReply:
    """A vector for each text in `space`, by default the configured one. `token_count` is the exact count over all
    texts: it is what gets reserved.

    NotNow, ProviderFailed (also when rows are missing or repeated: then nothing is usable) or ProviderRefused.
    """
    space = space or configured_space()
    order = Order("embeddings", space.model, token_count, len(texts), context)

    def read(body: dict[str, Any]) -> Read[EmbeddingShape]:
        shape = embedding_shape(body, len(texts), space.dimension)
        return Read(shape, shape.usage)

    request = {
        "model": order.model,
        "input": texts,
        "encoding_format": "base64",
        "dimensions": space.dimension,
    }
    shape = _call(order, "embeddings", request, read)
    cost = prices.cost(order.model, shape.usage.prompt_tokens, shape.usage.completion_tokens)
    return EmbeddingReply(shape.vectors, shape.bad, shape.usage.total, cost)


def stream_chat(messages: list[dict[str, str]], *, context: CallContext, max_tokens: int) -> Iterator[str | ChatReply]:
    """Pieces of the answer's text as they come, at last one ChatReply; ProviderFailed if it breaks off.

    Nothing is called before the first item is asked for. A reader that stops early leaves the call settled.
    """
    order = _chat_order(context)
    request = _chat_request(messages, max_tokens) | {
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    identity = _begin_patiently(order)
    started = time.monotonic()
    gathering = Gathering()
    try:
        with transport.exchange(CHAT_PATH, request, identity) as answer:
            if answer.status == 200 and "event-stream" in answer.headers.get("content-type", ""):
                yield from _pieces(answer, gathering)
                ending = verdicts.good(order.lane, gathering.whole().usage, answer.status, answer.headers)
            else:
                ending = _judge(order, answer, _refuse_whole).ending
    except _CUT_SHORT as error:
        ending = _ending_of(order, error)
    except GeneratorExit:
        _settle(order, identity, Ending("abandoned", "the reader went away", charged=None), started)
        raise
    _settle(order, identity, ending, started)
    yield _chat_reply(order, gathering.whole())


def _pieces(answer: Answer, gathering: Gathering) -> Iterator[str]:
    for payload in payloads(answer.chunks()):
        if piece := gathering.take(payload):
            yield piece


def _refuse_whole(body: dict[str, Any]) -> Read[ChatShape]:
    raise Malformed("a stream was asked for, a whole answer came", usage_of(body))


def _call(order: Order, path: str, request: dict[str, Any], read: Callable[[dict[str, Any]], Read[T]]) -> T:
    identity = _begin_patiently(order)
    started = time.monotonic()
    verdict: Verdict[T]
    try:
        with transport.exchange(path, request, identity) as answer:
            verdict = _judge(order, answer, read)
    except _CUT_SHORT as error:
        verdict = Verdict(_ending_of(order, error))
    _settle(order, identity, verdict.ending, started)
    # Every ending without a shape was raised by the settlement.
    return cast(T, verdict.shape)


def _judge(order: Order, answer: Answer, read: Callable[[dict[str, Any]], Read[T]]) -> Verdict[T]:
    received = Received(order.lane, order.need, answer.status, answer.headers, answer.body())
    return verdicts.judge(received, read, time.time())


def _ending_of(order: Order, error: Exception) -> Ending:
    """The ending of an exchange that gave no whole answer."""
    if isinstance(error, Unanswered):
        return verdicts.unanswered(error.kind, error.detail, was_sent=error.was_sent)
    if isinstance(error, BrokenOff):
        return verdicts.unanswered("disconnected", "the stream broke off", was_sent=True)
    flaw = error if isinstance(error, Malformed) else Malformed("the answer is too long")
    return verdicts.malformed(order.lane, flaw)


def _settle(order: Order, identity: str, ending: Ending, started: float) -> None:
    ledger.settle(order, identity, replace(ending, latency_seconds=time.monotonic() - started))


def _begin_patiently(order: Order) -> str:
    """Reserves the call; a question looks again for a moment while only quota is missing."""
    patience = QUESTION_WAIT_SECONDS if order.context.purpose == "question" else 0.0
    while True:
        try:
            return ledger.begin(order)
        except NotNow as wait:
            if wait.reason != "provider_quota" or wait.wait_seconds > patience:
                raise
            # At least a little is spent each time, so that this ends.
            pause = max(wait.wait_seconds, SHORTEST_PAUSE_SECONDS)
        patience -= pause
        sleep(pause)


def _chat_order(context: CallContext) -> Order:
    return Order("chat", settings.CHAT_MODEL, 1, 1, context)


def _chat_request(messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
    return {
        "model": settings.CHAT_MODEL,
        "messages": messages,
        "max_tokens": max_tokens,
        # The most likely words: a policy is summarised and quoted, not embroidered.
        "temperature": 0,
    }


def _chat_reply(order: Order, shape: ChatShape) -> ChatReply:
    usage = shape.usage
    return ChatReply(
        text=shape.text,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        model=shape.model or order.model,
        cost_usd=prices.cost(order.model, usage.prompt_tokens, usage.completion_tokens),
    )
