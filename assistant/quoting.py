"""The part of a passage that a sentence rests on: pieces, their overlap with the sentence, the tightest span. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.wording import numbers, terms

# Neighbours join a quote only while they add words of the sentence; three pieces are enough to read.
MOST_PIECES = 3
_NUMBER_WEIGHT = 2.0

_BLOCK = re.compile(r"[^\n]*(?:\n|$)")
_OPENS_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d{1,9}[.)]\s|\||#{1,6}\s|>|`{3}|~{3})")
# Marks that belong to the layout, not to the words that are quoted.
_LEAD = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})\s+)?")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)*_\]]*\s+(?=[^\sa-z])|[。！？]+")


@dataclass(frozen=True, slots=True)
class Span:
    """Code points into the passage's own text."""

    start: int
    end: int

    def hull(self, other: "Span") -> "Span":
        return Span(min(self.start, other.start), max(self.end, other.end))


def quote(passage_text: str, sentence: str) -> Span:
    """The one to three neighbouring pieces that share most with the sentence; all of the text when none does."""
    pieces = list(_pieces(passage_text))
    wanted = set(terms(sentence))
    shared = [wanted & set(terms(passage_text[piece.start : piece.end])) for piece in pieces]
    best = max(range(len(pieces)), key=lambda i: _weight(shared[i], pieces[i]), default=None)
    if best is None or not shared[best]:
        stripped = passage_text.strip()
        start = passage_text.find(stripped)
        return Span(start, start + len(stripped))
    # A table row says its own; its neighbours share the column names and belong to others.
    is_row = passage_text.startswith("|", pieces[best].start)
    first, last = (best, best) if is_row else _grown(best, shared)
    return pieces[first].hull(pieces[last])


def _grown(best: int, shared: list[set[str]]) -> tuple[int, int]:
    """The best piece and those neighbours that bring at least two words, or a number, which it lacks."""
    first = last = best
    covered = set(shared[best])
    while last - first + 1 < MOST_PIECES:
        sides = [i for i in (first - 1, last + 1) if 0 <= i < len(shared)]
        side = max(sides, key=lambda i: len(shared[i] - covered), default=None)
        if side is None or not _is_worth(shared[side] - covered):
            break
        covered |= shared[side]
        first, last = min(first, side), max(last, side)
    return first, last


def _is_worth(added: set[str]) -> bool:
    return len(added) >= 2 or bool(numbers(list(added)))


def _weight(shared: set[str], piece: Span) -> tuple[float, int]:
    """More shared words win, numbers count double; of two equals the shorter says less that was not asked."""
    return len(shared) + (_NUMBER_WEIGHT - 1) * len(numbers(list(shared))), piece.start - piece.end


def _pieces(text: str) -> Iterator[Span]:
    """List items, table rows, headings and the sentences of paragraphs, in their order, without layout marks."""
    for block in _blocks(text):
        start = block.start
        for end in _SENTENCE_END.finditer(text, block.start, block.end):
            yield from _trimmed(text, Span(start, end.end()))
            start = end.end()
        yield from _trimmed(text, Span(start, block.end))


def _blocks(text: str) -> Iterator[Span]:
    """Runs of lines that belong together: a paragraph over several lines is one, a list item or row is its own."""
    start = end = 0
    for line in _BLOCK.finditer(text):
        if not line[0].strip() or _OPENS_BLOCK.match(line[0]):
            yield Span(start, line.start())
            start = line.start()
        end = line.end()
    yield Span(start, end)


def _trimmed(text: str, span: Span) -> Iterator[Span]:
    lead = _LEAD.match(text, span.start, span.end)
    start = lead.end() if lead else span.start
    end = start + len(text[start : span.end].rstrip())
    if end > start:
        yield Span(start, end)
