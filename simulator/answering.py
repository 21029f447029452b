"""Answers a question from numbered passages, and from nothing else. Pure; what a passage orders is only quoted."""

import math
import re
from collections import Counter
from dataclasses import dataclass

from simulator.sentences import sentences
from simulator.words import is_same, stems, words

NOT_FOUND = "Not found in the policies."
MOST_SENTENCES = 3
# Less of the question's meaning than this in a sentence and its headings is chance, not an answer.
LEAST_COVERAGE = 0.5
# A further sentence must be nearly as good as the first, and must say something else.
LEAST_OF_BEST = 0.6
MOST_OVERLAP = 0.6
CONTEXT_WEIGHT = 0.5
NUMBER_BONUS = 1.2
# Passages come best first: a small lead for the earlier one breaks ties as the search did.
RANK_LOSS = 0.02
RARITY = 0.6
# Every passage is from a policy of this shop: these words in a question tell nothing about what is asked.
GENERIC = frozenset({"polici", "document", "larkfield"})

_MARK = re.compile(r"^\[(\d{1,4})\][ \t]*\((.*)\)[ \t]*$")
_ASKS_NUMBER = re.compile(r"\b(?:how (?:many|much|long|old|often|soon|fast)|when|what time|which day|deadline)\b", re.I)
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|free)\b", re.I)


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered passage as the prompt gave it; `source` is its title and heading path."""

    number: int
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    rank: int
    text: str
    own: frozenset[str]
    around: frozenset[str]

    @property
    def all_stems(self) -> frozenset[str]:
        return self.own | self.around


def read_passages(block: str) -> list[Passage]:
    """The passages of a prompt, in its order; a line that only repeats a number already seen opens none."""
    sources: dict[int, str] = {}
    texts: dict[int, list[str]] = {}
    number = 0
    for line in block.split("\n"):
        mark = _MARK.match(line)
        if mark and int(mark[1]) not in sources:
            number = int(mark[1])
            sources[number], texts[number] = mark[2], []
        elif number in texts:
            texts[number].append(line)
    return [Passage(number, source, "\n".join(texts[number])) for number, source in sources.items()]


def answer(question: str, passages: list[Passage]) -> str:
    """One to three sentences of the passages, each with its number, or `NOT_FOUND`."""
    asked = _asked(question)
    candidates = _candidates(passages)
    if not asked or not candidates:
        return NOT_FOUND
    hits = _hits(asked, candidates)
    weights = _weights(asked, candidates, hits)
    least = LEAST_COVERAGE * sum(weights.values())
    near = [one for one in candidates if sum(weights[word] for word in _met(one.all_stems, hits)) >= least]
    if not near:
        return NOT_FOUND
    scored = _scored(near, hits, weights, _ASKS_NUMBER.search(question) is not None)
    return " ".join(_cited(chosen) for chosen in _chosen(scored, hits))


def _asked(question: str) -> list[str]:
    meaningful = dict.fromkeys(stems(question))
    return [word for word in meaningful if word not in GENERIC] or list(meaningful or dict.fromkeys(words(question)))


def _candidates(passages: list[Passage]) -> list[_Candidate]:
    found: list[_Candidate] = []
    for rank, passage in enumerate(passages):
        for sentence in sentences(passage.text):
            around = frozenset(stems(f"{passage.source} {sentence.context}"))
            found.append(_Candidate(passage.number, rank, sentence.text, frozenset(stems(sentence.text)), around))
    return found


def _hits(asked: list[str], candidates: list[_Candidate]) -> dict[str, set[str]]:
    """For every stem of the passages the asked stems that it meets; worked out once, however often it occurs."""
    vocabulary = {word for candidate in candidates for word in candidate.all_stems}
    return {word: {one for one in asked if is_same(one, word)} for word in vocabulary}


def _met(found: frozenset[str], hits: dict[str, set[str]]) -> set[str]:
    return {one for word in found for one in hits[word]}


def _weights(asked: list[str], candidates: list[_Candidate], hits: dict[str, set[str]]) -> dict[str, float]:
    """Rare words tell more: 1 for a word that no passage has, less with every sentence that has it."""
    counts = Counter(one for candidate in candidates for one in _met(candidate.all_stems, hits))
    return {word: 1 / (1 + RARITY * math.log1p(counts[word])) for word in asked}


def _scored(
    candidates: list[_Candidate], hits: dict[str, set[str]], weights: dict[str, float], asks_number: bool
) -> list[tuple[float, _Candidate]]:
    scored = [(_score(candidate, hits, weights, asks_number), candidate) for candidate in candidates]
    return sorted(scored, key=lambda pair: -pair[0])


def _score(candidate: _Candidate, hits: dict[str, set[str]], weights: dict[str, float], asks_number: bool) -> float:
    own = _met(candidate.own, hits)
    around = _met(candidate.around, hits) - own
    score = sum(weights[word] for word in own) + CONTEXT_WEIGHT * sum(weights[word] for word in around)
    if asks_number and _NUMBER.search(candidate.text):
        score *= NUMBER_BONUS
    # A question in the text repeats the words that were asked and answers nothing.
    if candidate.text.endswith(("?", ":")):
        score *= 0.5
    return score * (1 - RANK_LOSS * min(candidate.rank, 20))


def _chosen(scored: list[tuple[float, _Candidate]], hits: dict[str, set[str]]) -> list[_Candidate]:
    best_score, best = scored[0]
    chosen = [best]
    for score, candidate in scored[1:]:
        if len(chosen) == MOST_SENTENCES or score < LEAST_OF_BEST * best_score:
            break
        if _met(candidate.own, hits) and all(_overlap(candidate, other) < MOST_OVERLAP for other in chosen):
            chosen.append(candidate)
    return chosen


def _overlap(one: _Candidate, other: _Candidate) -> float:
    smaller = min(len(one.own), len(other.own))
    return len(one.own & other.own) / smaller if smaller else 1.0


def _cited(candidate: _Candidate) -> str:
    text = candidate.text.rstrip()
    end = text[-1] if text[-1] in ".!?。！？" else "."
    return f"{text.rstrip('.!?。！？:;, ')} [{candidate.number}]{end}"
