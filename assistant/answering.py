"""Answers a question from the published policies: cache, search, prompt, model, citations, in this order.

The provider is called in no transaction. What a model says reaches a reader only through `citations`.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from decimal import Decimal
from typing import Any

from assistant import cache
from assistant.citations import Citing
from assistant.passages import Passage
from assistant.prompt import ANSWER_TOKENS, NOT_FOUND, messages, within_budget
from assistant.refusals import as_problem, is_worth_a_second_try, twice
from assistant.search import find
from ingestion.models import DocumentVersion, corpus_generation
from ingestion.models.jobs import LIVE_STATES
from ingestion.provider.client import CallContext, ChatReply, chat, stream_chat
from ingestion.provider.errors import ProviderError, ProviderFailed

# What is searched for one question; the prompt's token budget decides how many of them are read.
PASSAGES = 8

Answer = dict[str, Any]
Writing = Generator[str, None, tuple[Citing, ChatReply]]


def answer(question: str, *, is_fresh: bool = False) -> Answer:
    """The answer object of the API; a fresh one is made anew and not kept.

    Raises `Problem` `provider_unavailable`; nothing is kept then.
    """
    for event in _events(question, _write_whole, is_fresh=is_fresh):
        if isinstance(event, dict):
            return event
    raise RuntimeError("an answer ended without its object")


def stream(question: str) -> Iterator[str | Answer]:
    """Pieces of the answer's text, each final when it comes, and at last the answer object.

    The pieces put together are the object's `answer`. Raises `Problem` as `answer` does, also between pieces.
    """
    return _events(question, _write_streamed)


def _events(
    question: str, write: Callable[[str, Sequence[Passage]], Writing], *, is_fresh: bool = False
) -> Iterator[str | Answer]:
    # Read before the search: if something is published in between, the answer is kept under a generation
    # that is over, and nobody finds it.
    key = cache.answer_key(question, corpus_generation())
    if not is_fresh and (known := cache.find_answer(key)):
        yield known["answer"]
        yield _object(known, cached=True, usage=_usage(0, Decimal(0), None))
        return
    found = find(question, limit=PASSAGES)
    if found.passages:
        citing, reply = yield from _as_problems(write(question, within_budget(found.passages)))
        made = {"answer": citing.answer, "citations": [one.document() for one in citing.citations]}
        # Of nothing that the model said could be shown: not worth keeping, the next try may be better.
        is_final = bool(citing.citations) or citing.has_abstained
        cost = found.cost_usd + reply.cost_usd
    else:
        yield NOT_FOUND
        made, is_final, cost, reply = {"answer": NOT_FOUND, "citations": []}, True, found.cost_usd, None
    if is_final and not is_fresh:
        cache.keep_answer(key, made)
    yield _object(made, cached=False, usage=_usage(found.embedding_tokens, cost, reply))


def _as_problems(writing: Writing) -> Writing:
    try:
        return (yield from writing)
    except ProviderError as error:
        raise as_problem(error) from error


def _write_whole(question: str, passages: Sequence[Passage]) -> Writing:
    conversation = messages(question, passages)
    reply = twice(lambda: chat(conversation, context=_context(), max_tokens=ANSWER_TOKENS))
    citing = Citing(passages)
    yield from citing.feed(reply.text)
    yield from citing.finish()
    return citing, reply


def _write_streamed(question: str, passages: Sequence[Passage]) -> Writing:
    """A stream that breaks off is begun again once, as long as no reader has seen a word of it."""
    citing = Citing(passages)
    try:
        return (yield from _write_once(question, citing))
    except ProviderFailed as error:
        if citing.answer or not is_worth_a_second_try(error):
            raise
    return (yield from _write_once(question, Citing(passages)))


def _write_once(question: str, citing: Citing) -> Writing:
    conversation = messages(question, citing.passages)
    for piece in stream_chat(conversation, context=_context(), max_tokens=ANSWER_TOKENS):
        if isinstance(piece, ChatReply):
            yield from citing.finish()
            return citing, piece
        yield from citing.feed(piece)
    raise ProviderFailed("provider_malformed", "The stream ended without its reply.")


def _context() -> CallContext:
    return CallContext(purpose="question", step="answer")


def _object(made: Answer, *, cached: bool, usage: Answer) -> Answer:
    newer = _newer_pending({one["document"]: one["version"] for one in made["citations"]})
    return {
        "answer": made["answer"],
        "citations": made["citations"],
        "newer_pending": newer,
        "cached": cached,
        "usage": usage,
    }


def _newer_pending(cited: dict[str, int]) -> list[dict[str, Any]]:
    """Versions that wait or run above the cited ones; read anew for each answer, since it changes without a publish."""
    waiting = (
        DocumentVersion.objects.filter(
            document__slug__in=cited, document__deleted_at=None, deleted_at=None, job__state__in=LIVE_STATES
        )
        .order_by("document__slug", "number")
        .values_list("document__slug", "number")
    )
    return [{"document": slug, "version": number} for slug, number in waiting if number > cited[slug]]


def _usage(embedding_tokens: int, cost: Decimal, reply: ChatReply | None) -> Answer:
    """What this request took from the provider; a cached answer takes nothing."""
    return {
        "prompt_tokens": reply.prompt_tokens if reply else 0,
        "completion_tokens": reply.completion_tokens if reply else 0,
        "embedding_tokens": embedding_tokens,
        "cost_usd": f"{cost:f}",
    }
