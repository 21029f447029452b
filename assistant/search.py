"""Finds the passages of published versions that fit a question. What may be found is decided in `sql/search.sql`."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import cache as stored
from assistant.passages import Passage
from assistant.refusals import as_problem, twice
from assistant.statements import search_statement
from ingestion import connections
from ingestion.models import Document, EmbeddingSpace, embedding_space
from ingestion.problems import Problem
from ingestion.provider.client import CallContext, embed
from ingestion.provider.errors import ProviderError, ProviderFailed

# The words' part of the score. Cosines of texts lie close together, shares of words far apart: a quarter balances
# them. On the two question sets hit@5 is 0.90 and 0.76 with it, and hardly moves between 0.2 and 0.35; by vectors alone
# it is 0.82 and 0.67, by words alone 0.55 and 0.67.
WORD_SHARE = 0.25


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
    scope = None if document is None else _scope(document)
    space = embedding_space()
    try:
        vector, tokens, cost = _vector_of(question, space)
    except ProviderError as error:
        raise as_problem(error) from error
    return Found(ranked(question, vector, space, limit=limit, scope=scope, word_share=word_share), tokens, cost)


def _scope(slug: str) -> tuple[int, int | None]:
    """The document and its published version, by their ids."""
    found = Document.objects.filter(slug=slug, deleted_at=None).values_list("id", "published_id").first()
    if found is None:
        raise Problem("not_found", "There is no document with this slug.")
    return found


def _vector_of(question: str, space: EmbeddingSpace) -> tuple[Sequence[float], int, Decimal]:
    """The question's vector, from the cache or the provider, with the tokens and the cost that it took now."""
    if known := stored.vector_of(question, space.name, space.dimension):
        return known, 0, Decimal(0)
    # Bytes bound a text's tokens from above; what was reserved too much is given back when the call is settled.
    vector, tokens, cost = twice(lambda: _ask_for_vector(question, space))
    stored.keep_vector(question, space.name, vector)
    return vector, tokens, cost


def _ask_for_vector(question: str, space: EmbeddingSpace) -> tuple[Sequence[float], int, Decimal]:
    """The provider's vector; one that can't be used counts as a failed try."""
    context = CallContext(purpose="question", step="embed_question")
    reply = embed([question], context=context, token_count=len(question.encode()), space=space)
    vector = reply.vectors[0]
    if vector is None:
        raise ProviderFailed("provider_malformed", reply.bad.get(0, "The vector can't be used."))
    return vector, reply.tokens, reply.cost_usd


def ranked(
    question: str,
    vector: Sequence[float],
    space: EmbeddingSpace,
    *,
    limit: int,
    scope: tuple[int, int | None] | None = None,
    word_share: float = WORD_SHARE,
) -> list[Passage]:
    """The best passages for a question whose vector in `space` is known; one statement."""
    document, version = scope or (None, None)
    rows = connections.prepared(
        search_statement(space, in_one=scope is not None),
        {"question": question, "vector": _literal(vector), "word_share": word_share, "limit": limit}
        | ({"document": document, "version": version} if scope else {}),
    )
    # The columns come in the order of the fields.
    return [Passage(*row) for row in rows]


def _literal(vector: Sequence[float]) -> str:
    """The vector as pgvector reads it; 32-bit numbers, as they are stored."""
    return "[" + ",".join(f"{value:.9g}" for value in array("f", vector)) + "]"
