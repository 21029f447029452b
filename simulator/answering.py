"""Answers a question from numbered passages, and from nothing else. Pure; what a passage orders is only quoted."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from simulator.sentences import sentences
from simulator.words import likeness, stems, telling, words

NOT_FOUND = "Not found in the policies."
MOST_SENTENCES = 3
# Less of the question's meaning than this in a passage, its headings included, is chance, not an answer; and less
# than that in the sentence itself and its headings is another subject of the same passage.
LEAST_COVERAGE = 0.5
LEAST_OWN_COVERAGE = 0.3
# A further sentence must be nearly as good as the first, and must say something else.
LEAST_OF_BEST = 0.85
MOST_OVERLAP = 0.6
# Headings say what a sentence is about, its neighbours only what is near.
CONTEXT_WEIGHT = 0.8
PASSAGE_WEIGHT = 0.25
NUMBER_BONUS = 1.3
# Passages come best first: the earlier one is the likelier, as the search saw it.
RANK_LOSS = 0.06
RARITY = 0.35
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
    passage: frozenset[str]


class _Meaning:
    """How much of what was asked some stems hold; each stem is compared once, however often it occurs."""

    def __init__(self, asked: list[str], candidates: list[_Candidate]) -> None:
        self._asked = asked
        self._likeness: dict[str, dict[str, float]] = {}
        counts = Counter(word for one in candidates for word in self.held(one.own | one.around))
        # Among the passages a word tells less with every sentence that has it: it singles none of them out.
        self._weights = {word: telling(word) / (1 + RARITY * math.log1p(counts[word])) for word in asked}

    def held(self, found: Iterable[str]) -> dict[str, float]:
        """The asked words that the stems hold, and how surely."""
        held: dict[str, float] = {}
        for stem in found:
            if stem not in self._likeness:
                near = {word: likeness(word, stem) for word in self._asked}
                self._likeness[stem] = {word: sure for word, sure in near.items() if sure}
            for word, sure in self._likeness[stem].items():
                held[word] = max(sure, held.get(word, 0.0))
        return held

    def coverage(self, found: Iterable[str]) -> float:
        """The share, 0 to 1, of what was asked that the stems hold."""
        held = self.held(found)
        return sum(telling(word) * sure for word, sure in held.items()) / sum(map(telling, self._asked))

    def weigh(self, *layers: tuple[float, Iterable[str]]) -> float:
        """What the stems say of the question, each asked word counted in the layer that holds it best."""
        best: dict[str, float] = {}
        for factor, found in layers:
            for word, sure in self.held(found).items():
                best[word] = max(best.get(word, 0.0), factor * sure)
        return sum(self._weights[word] * sure for word, sure in best.items())


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
    meaning = _Meaning(asked, candidates)
    near = [one for one in candidates if _is_about(one, meaning)]
    if not near:
        return NOT_FOUND
    asks_number = _ASKS_NUMBER.search(question) is not None
    scored = sorted(((_score(one, meaning, asks_number), one) for one in near), key=lambda pair: -pair[0])
    return " ".join(_cited(chosen) for chosen in _chosen(scored, meaning))


def _asked(question: str) -> list[str]:
    meaningful = dict.fromkeys(stems(question))
    return [word for word in meaningful if word not in GENERIC] or list(meaningful or dict.fromkeys(words(question)))


def _candidates(passages: list[Passage]) -> list[_Candidate]:
    found: list[_Candidate] = []
    for rank, passage in enumerate(passages):
        whole = frozenset(stems(f"{passage.source} {passage.text}"))
        for sentence in sentences(passage.text):
            around = frozenset(stems(f"{passage.source} {sentence.context}"))
            own = frozenset(stems(sentence.text))
            found.append(_Candidate(passage.number, rank, sentence.text, own, around, whole))
    return found


def _is_about(candidate: _Candidate, meaning: _Meaning) -> bool:
    if meaning.coverage(candidate.passage) < LEAST_COVERAGE:
        return False
    return meaning.coverage(candidate.own | candidate.around) >= LEAST_OWN_COVERAGE


def _score(candidate: _Candidate, meaning: _Meaning, asks_number: bool) -> float:
    layers = ((1.0, candidate.own), (CONTEXT_WEIGHT, candidate.around), (PASSAGE_WEIGHT, candidate.passage))
    score = meaning.weigh(*layers)
    if asks_number and _NUMBER.search(candidate.text):
        score *= NUMBER_BONUS
    # A question in the text repeats the words that were asked and answers nothing.
    if candidate.text.endswith(("?", ":")):
        score *= 0.5
    return score * (1 - RANK_LOSS * min(candidate.rank, 20))


def _chosen(scored: list[tuple[float, _Candidate]], meaning: _Meaning) -> list[_Candidate]:
    best_score, best = scored[0]
    chosen = [best]
    whole = meaning.coverage(best.own | best.around)
    for score, candidate in scored[1:]:
        if len(chosen) == MOST_SENTENCES or score < LEAST_OF_BEST * best_score:
            break
        is_on_subject = meaning.coverage(candidate.own | candidate.around) >= LEAST_OF_BEST * whole
        adds = meaning.held(candidate.own) and all(_overlap(candidate, other) < MOST_OVERLAP for other in chosen)
        if is_on_subject and adds:
            chosen.append(candidate)
    return chosen


def _overlap(one: _Candidate, other: _Candidate) -> float:
    smaller = min(len(one.own), len(other.own))
    return len(one.own & other.own) / smaller if smaller else 1.0


def _cited(candidate: _Candidate) -> str:
    text = candidate.text.rstrip()
    end = text[-1] if text[-1] in ".!?。！？" else "."
    return f"{text.rstrip('.!?。！？:;, ')} [{candidate.number}]{end}"
