"""Finds the passages of published versions that fit a question. What may be found is decided in `sql/search.sql`."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection

from assistant import cache as stored
from assistant.passages import Passage
from assistant.refusals import as_problem, twice
from ingestion.models import Document, embedding_version
from ingestion.problems import Problem
from ingestion.provider.client import CallContext, embed
from ingestion.provider.errors import ProviderError, ProviderFailed

# How many chunks vectors and words each propose before both are measured; twice the largest limit.
DEPTH = 100
# The words' part of the score. Cosines of texts lie close together, shares of words far apart: a quarter balances
# them. On the two question sets hit@5 is 0.90 and 0.76 with it, and hardly moves between 0.2 and 0.35; by vectors alone
# it is 0.82 and 0.67, by words alone 0.55 and 0.67.
WORD_SHARE = 0.25
# A word in so many chunks is no longer counted: what a question costs must not grow with the commonest of its words.
COMMON = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, the best first, and what it took to embed the question (nothing when its vector was known)."""

    passages: list[Passage]
    embedding_tokens: int
    cost_usd: Decimal


def find(question: str, *, limit: int, document: str | None = None, word_share: float = WORD_SHARE) -> Found:
    """The `limit` best passages, of `document` alone when it is named; with a `word_share` of 0 by vectors alone.

    Raises `Problem`: `not_found` for a document that is not there, `provider_unavailable` when the question
    can't be embedded now.
    """
    if document is not None and not Document.objects.filter(slug=document, deleted_at=None).exists():
        raise Problem("not_found", "There is no document with this slug.")
    try:
        vector, tokens, cost = _vector_of(question)
    except ProviderError as error:
        raise as_problem(error) from error
    return Found(_ranked(question, vector, limit, document, word_share), tokens, cost)


def _vector_of(question: str) -> tuple[Sequence[float], int, Decimal]:
    """The question's vector, from the cache or the provider, with the tokens and the cost that it took now."""
    version = embedding_version()
    if known := stored.vector_of(question, version, settings.EMBEDDING_DIMENSION):
        return known, 0, Decimal(0)
    # Bytes bound a text's tokens from above; what was reserved too much is given back when the call is settled.
    vector, tokens, cost = twice(lambda: _ask_for_vector(question))
    stored.keep_vector(question, version, vector)
    return vector, tokens, cost


def _ask_for_vector(question: str) -> tuple[Sequence[float], int, Decimal]:
    """The provider's vector; one that can't be used counts as a failed try."""
    context = CallContext(purpose="question", step="embed_question")
    reply = embed([question], context=context, token_count=len(question.encode()))
    vector = reply.vectors[0]
    if vector is None:
        raise ProviderFailed("provider_malformed", reply.bad.get(0, "The vector can't be used."))
    return vector, reply.tokens, reply.cost_usd


def _ranked(
    question: str, vector: Sequence[float], limit: int, document: str | None, word_share: float
) -> list[Passage]:
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(),
            {
                "question": question,
                "vector": _literal(vector),
                "dimension": settings.EMBEDDING_DIMENSION,
                "embedding_version": embedding_version(),
                "document": document,
                "limit": limit,
                "depth": DEPTH,
                "word_share": word_share,
                "common": COMMON,
            },
        )
        # The columns come in the order of the fields.
        return [Passage(*row) for row in cursor.fetchall()]


def _literal(vector: Sequence[float]) -> str:
    """The vector as pgvector reads it; 32-bit numbers, as they are stored."""
    return "[" + ",".join(f"{value:.9g}" for value in array("f", vector)) + "]"


@cache
def _statement() -> str:
    return (Path(__file__).parent / "sql" / "search.sql").read_text()
