"""What a person says of an answer, helpful or not, as events `answer.rated`: one for each document that it cites.

They pass the same door as every producer's. The identity is made from the person and the answer, so that however often
the button is pressed, and whichever reply is lost, a person rates an answer once.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ingestion.event_admission import Accepted, admit_events
from ingestion.events import envelope, ledger
from ingestion.models import Caller
from ingestion.problems import Problem

HELPFUL, NOT_HELPFUL = 5, 1
CITED_MAX = 20
# A producer's name belongs to one caller, so that each person has one.
PRODUCER = "larkfield-ask-{caller}"


@dataclass(frozen=True)
class Rating:
    """An answer as it was shown, the documents and versions that it cites, and what the person says of it."""

    question: str
    answer: str
    cited: Sequence[tuple[str, int]]
    is_helpful: bool

    @property
    def answer_id(self) -> str:
        """The same for the same answer to a question from the same versions, also when it came from the cache."""
        told = json.dumps([self.question, self.answer, sorted(self.cited)], ensure_ascii=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]


def rate(caller: Caller, rating: Rating, request_id: str) -> bool:
    """The rating is accepted for every cited document; True when it was before, by an earlier press or try.

    Raises Problem: `event_conflict` when the person rated this answer otherwise before, `queue_full` and
    `rate_limited` with Retry-After; what was accepted until then is a replay at the next try.
    """
    events = [_envelope(caller, rating, document, version) for document, version in rating.cited]
    verdicts = admit_events(caller, events, request_id)
    refused = [verdict for verdict in verdicts if isinstance(verdict, Problem)]
    replayed = [verdict for verdict in verdicts if isinstance(verdict, Accepted) and verdict.is_replay]
    outcomes = [ledger.outcome_of(problem.code) for problem in refused] + ["replayed"] * len(replayed)
    ledger.count(caller.pk, outcomes)
    if refused:
        raise _worded(refused[0])
    return len(replayed) == len(verdicts)


def _worded(problem: Problem) -> Problem:
    if problem.code != "event_conflict":
        return problem
    return Problem("event_conflict", "You rated this answer before; the first rating is kept.")


def _envelope(caller: Caller, rating: Rating, document: str, version: int) -> envelope.Envelope:
    return envelope.read(
        {
            "producer": PRODUCER.format(caller=caller.pk),
            "event_id": f"{rating.answer_id}-{document}-{version}",
            "type": "answer.rated",
            "occurred_at": datetime.now(UTC).isoformat(),
            "payload": {
                "answer_id": rating.answer_id,
                "document": document,
                "version": version,
                "rating": HELPFUL if rating.is_helpful else NOT_HELPFUL,
            },
        }
    )
