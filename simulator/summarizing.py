"""Sums a text up in its own words, by its first heading and its most telling sentences. Pure; obeys no text."""

import re
from collections import Counter

from simulator.sentences import Sentence, first_heading, sentences
from simulator.words import stems

MOST_SENTENCES = 2
MOST_WORDS = 40
# The first sentences of a policy usually say what it is about; a long text must not win by its length.
LEAD_BONUS = 1.5
LEAD_SENTENCES = 3
NUMBER_BONUS = 1.2

_DIGIT = re.compile(r"\d")


def summarize(title: str, text: str) -> str:
    """The heading (or the title) and up to two sentences of the text, in the text's order."""
    found = sentences(text)
    heading = first_heading(text) or title
    chosen = _most_telling(found)
    body = " ".join(_shortened(sentence.text) for sentence in chosen)
    if not body:
        return heading or "The text is empty."
    return f"{heading.rstrip('.:')}: {body}" if heading else body


def _most_telling(found: list[Sentence]) -> list[Sentence]:
    stemmed = [stems(sentence.text) for sentence in found]
    counts = Counter(word for one in stemmed for word in set(one))
    scores = [_score(place, found[place].text, stemmed[place], counts) for place in range(len(found))]
    best = sorted(range(len(found)), key=lambda place: -scores[place])[:MOST_SENTENCES]
    return [found[place] for place in sorted(best)]


def _score(place: int, text: str, stemmed: list[str], counts: Counter[str]) -> float:
    if len(stemmed) < 3 or text.endswith(("?", ":")):
        return 0.0
    score = sum(counts[word] for word in set(stemmed)) / (len(stemmed) + 5)
    if place < LEAD_SENTENCES:
        score *= LEAD_BONUS
    return score * NUMBER_BONUS if _DIGIT.search(text) else score


def _shortened(text: str) -> str:
    words = text.split()
    if len(words) <= MOST_WORDS:
        return text if text[-1] in ".!?。！？…" else f"{text}."
    return " ".join(words[:MOST_WORDS]).rstrip(",;:") + "…"
