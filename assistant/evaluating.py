"""Measures search and answers on a set of questions: what is found, what is cited, what is left unanswered.

The numbers are worked out here; where the questions come from is in `question_sets`, how they are shown in the command.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

from assistant import answering, search
from assistant.passages import Passage
from assistant.question_sets import Asked
from ingestion.models import Document
from ingestion.problems import Problem

# Ranks behind this count as not found.
DEPTH = 10
# A quota comes back within a minute; what refuses so often in a row is out of order.
MOST_WAITS = 20

T = TypeVar("T")
Wait = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. Ranks count from 1, None is not among the first `DEPTH`."""

    asked: Asked
    rank: int | None
    vector_rank: int | None
    # For each citation: whether its document is right, and whether its section is.
    citations: tuple[tuple[bool, bool], ...] | None = None

    @property
    def is_answerable(self) -> bool:
        return bool(self.asked.expected)


@dataclass
class Figures:
    """The outcomes of a set or of one kind of its questions, as numbers from 0 to 1 and counts."""

    outcomes: Sequence[Outcome] = field(default_factory=list)

    def numbers(self) -> dict[str, Any]:
        answerable = [one for one in self.outcomes if one.is_answerable]
        found = {
            "questions": len(self.outcomes),
            "answerable": len(answerable),
            "search": ranking([one.rank for one in answerable]),
            "vectors_only": ranking([one.vector_rank for one in answerable]),
        }
        if any(one.citations is not None for one in self.outcomes):
            found["answers"] = self._answers(answerable)
        return found

    def by_kind(self) -> dict[str, "Figures"]:
        ordered = sorted(self.outcomes, key=lambda one: one.asked.kind)
        return {kind: Figures(list(group)) for kind, group in groupby(ordered, key=lambda one: one.asked.kind)}

    def _answers(self, answerable: Sequence[Outcome]) -> dict[str, Any]:
        cited = [one.citations or () for one in answerable]
        unanswerable = [one for one in self.outcomes if not one.is_answerable]
        # An unanswerable question that is answered has citations, and none of them can be right.
        citations = [right for one in self.outcomes for right in one.citations or ()]
        return {
            "answered": sum(bool(one) for one in cited),
            "right_document": sum(any(document for document, _ in one) for one in cited),
            "right_section": sum(any(section for _, section in one) for one in cited),
            "citations": len(citations),
            "citation_precision": share(sum(section for _, section in citations), len(citations)),
            "unanswerable": len(unanswerable),
            "abstained": share(sum(not one.citations for one in unanswerable), len(unanswerable)),
        }


def ranking(ranks: Sequence[int | None]) -> dict[str, float | None]:
    """hit@1, hit@5 and the mean reciprocal rank (of the first `DEPTH`); None where nothing was asked."""
    return {
        "hit_at_1": share(sum(rank == 1 for rank in ranks), len(ranks)),
        "hit_at_5": share(sum(rank is not None and rank <= 5 for rank in ranks), len(ranks)),
        "mrr": share(sum(1 / rank for rank in ranks if rank), len(ranks)),
    }


def share(part: float, whole: int) -> float | None:
    """`part` of `whole`, rounded to a thousandth; None of nothing."""
    return round(part / whole, 3) if whole else None


def missing_documents(asked: Sequence[Asked]) -> list[str]:
    """The slugs that the questions need and nobody can read now, in their order."""
    needed = {section.document for one in asked for section in one.expected}
    published = Document.objects.filter(slug__in=needed, deleted_at=None, published__isnull=False)
    return sorted(needed - set(published.values_list("slug", flat=True)))


def evaluate(asked: Asked, *, is_search_only: bool, wait: Wait) -> Outcome:
    """The question is searched for, by vectors and words and by vectors alone, and answered unless told otherwise.

    `wait(seconds, reason)` is called when the provider takes no call now. Raises `Problem` when it never does.
    """
    found = _patiently(lambda: search.find(asked.question, limit=DEPTH), wait).passages
    by_vectors = _patiently(lambda: search.find(asked.question, limit=DEPTH, word_share=0.0), wait).passages
    citations = None
    if not is_search_only:
        made = _patiently(lambda: answering.answer(asked.question, is_fresh=True), wait)
        citations = tuple(_judged(one, asked, found) for one in made["citations"])
    return Outcome(asked, _rank(asked, found), _rank(asked, by_vectors), citations)


def _rank(asked: Asked, passages: Sequence[Passage]) -> int | None:
    return next((rank for rank, one in enumerate(passages, 1) if _is_right(one, asked)), None)


def _is_right(passage: Passage, asked: Asked) -> bool:
    return any(section.is_in(passage.document, passage.heading_path, passage.text) for section in asked.expected)


def _judged(citation: dict[str, Any], asked: Asked, found: Sequence[Passage]) -> tuple[bool, bool]:
    """Whether the citation's document is right, and whether its section is; answers rest on what search finds first."""
    is_document = any(section.document == citation["document"] for section in asked.expected)
    place = (citation["document"], citation["version"], citation["position"])
    passage = next((one for one in found if (one.document, one.version, one.position) == place), None)
    return is_document, passage is not None and _is_right(passage, asked)


def _patiently(call: Callable[[], T], wait: Wait) -> T:
    """The call's result; a provider that takes no call now is asked again when it said so."""
    for _ in range(MOST_WAITS):
        try:
            return call()
        except Problem as problem:
            if problem.code != "provider_unavailable":
                raise
            wait(float(problem.headers["Retry-After"]), "the provider takes no call")
    return call()
