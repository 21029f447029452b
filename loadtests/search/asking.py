"""The questions of a pass and the ways to ask them, beside an exact scan that shows what the index missed.

Imports the product: Django must be set up before.
"""

import random
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import psycopg
from django.conf import settings
from django.db import connection

from assistant import cache, search
from assistant.question_sets import SETS, questions
from assistant.statements import search_statement
from ingestion.models import ChunkVector, embedding_space

TOP = 10
RECALL_QUESTIONS = 200
# How far a question lies from the passage that it is about, beside the passage's own distance from its topic's centre.
DISTANCE = 0.9
NEAREST = """
SELECT chunk_id FROM ingestion_searchablevector WHERE embedding_version = '{space}'
ORDER BY vector::halfvec({dimension}) <#> %(vector)s::halfvec({dimension}) LIMIT {top}
"""


class Asking:
    """`kinds`: by name, what asks question `number`; each number is another question."""

    def __init__(self, count: int, api: httpx.Client) -> None:
        self.space, self.api, self.count = embedding_space(), api, count
        self.texts = [one.question for name in SETS for one in questions(name)]
        self.vectors = self._make_vectors(min(count, RECALL_QUESTIONS))
        self.own = self._connect()
        self.statement = search_statement(self.space, in_one=False)
        for number in range(count):
            cache.keep_vector(self._text(number), self.space.name, self._vector(number))
        self.kinds: dict[str, Callable[[int], object]] = {
            "statement": self._by_statement,
            "nearest": self._by_vector_alone,
            "function": self._by_function,
            "http": self._over_http,
            "http, new": self._over_http_new,
        }

    def _make_vectors(self, count: int) -> list[Sequence[float]]:
        """Vectors near published chunks, the same in every run."""
        chance = random.Random(2)
        known = ChunkVector.objects.filter(chunk__is_searchable=True).order_by("chunk_id")
        total = known.count()
        made: list[Sequence[float]] = []
        for _ in range(count):
            held = known.values_list("vector", flat=True)[chance.randrange(total)]
            made.append(array("f", [value + DISTANCE * chance.gauss(0, 1) for value in held]))
        return made

    def _text(self, number: int) -> str:
        number %= self.count
        return f"{self.texts[number % len(self.texts)]} ({number // len(self.texts)})"

    def _vector(self, number: int) -> Sequence[float]:
        return self.vectors[number % self.count % len(self.vectors)]

    def _parameters(self, number: int, share: float = search.WORD_SHARE, limit: int = TOP) -> dict[str, Any]:
        literal = search._literal(self._vector(number))
        return {"question": self._text(number), "vector": literal, "word_share": share, "limit": limit}

    def _connect(self) -> "psycopg.Connection[tuple[Any, ...]]":
        known: dict[str, Any] = connection.get_connection_params()
        wanted = {
            name: known[name] for name in ("dbname", "user", "password", "host", "port", "options") if known.get(name)
        }
        return psycopg.connect(**wanted, autocommit=True, prepare_threshold=settings_threshold())

    # --- ways to ask ---

    def _by_statement(self, number: int) -> object:
        return self.own.execute(self.statement.encode(), self._parameters(number)).fetchall()

    def _by_vector_alone(self, number: int) -> object:
        """The least that a vector search can be: ten nearest rows by the index, and nothing of their texts."""
        statement = NEAREST.format(space=self.space.name, dimension=self.space.dimension, top=TOP)
        return self.own.execute(statement.encode(), {"vector": search._literal(self._vector(number))}).fetchall()

    def _by_function(self, number: int) -> object:
        return search.find(self._text(number), limit=TOP)

    def _over_http(self, number: int) -> object:
        return self._get(self._text(number))

    def _over_http_new(self, number: int) -> object:
        return self._get(f"{self._text(number)} again {number}")

    def _get(self, question: str) -> object:
        answer = self.api.get("/v1/search", params={"q": question, "limit": TOP})
        answer.raise_for_status()
        return answer.json()

    # --- what the index missed ---

    def recall(self) -> dict[str, float]:
        """The part of the exact first ten that search finds: by vectors alone, and of its results as they are."""
        exact = self.statement.replace(f"held.vector::halfvec({self.space.dimension}) <#>", "held.vector <#>")
        assert exact != self.statement
        asked = range(len(self.vectors))
        return {
            name: sum(self._shared(exact, number, share) for number in asked) / len(asked)
            for name, share in (("recall_vectors", 0.0), ("recall_search", search.WORD_SHARE))
        }

    def _shared(self, exact: str, number: int, share: float) -> float:
        parameters = self._parameters(number, share)
        right, found = (
            {(row[0], row[2], row[3]) for row in self.own.execute(text.encode(), parameters).fetchall()}
            for text in (exact, self.statement)
        )
        return len(right & found) / len(right)

    def plan(self) -> list[str]:
        """The plan of the statement, with its times."""
        found = self.own.execute(
            f"EXPLAIN (ANALYZE, BUFFERS) {self.statement}".encode(), self._parameters(0)
        ).fetchall()
        return [row[0] for row in found]


def settings_threshold() -> int | None:
    """From its how many-th use on the product's connections keep a statement prepared."""
    found: int | None = settings.DATABASES["default"]["OPTIONS"]["prepare_threshold"]
    return found
