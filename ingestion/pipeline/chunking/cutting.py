"""Cuts a block that is too large for a chunk: at items, rows, lines, sentences, words, and last inside a word.

Every cut depends on the words beside it and hardly on what came before, so an edit moves only the cuts near it:
where pieces are ended for their length, they fall back into step at the next cut that words decide. Blanks belong to
the piece before them. Nothing here is slower than linear, whatever the text.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

from ingestion.pipeline.chunking.blocks import Block
from ingestion.pipeline.chunking.graphemes import joins_before
from ingestion.pipeline.chunking.limits import Limits
from ingestion.pipeline.chunking.places import place_cuts

Cutter: TypeAlias = Callable[[str, int, int], Iterable[int]]
Weighed: TypeAlias = tuple[int, int, int]

_SENTENCE = re.compile(r"[.!?…]['\"”’»)\]*_]*\s+|[。！？]+[」』”’）]*\s*")
_WORD = re.compile(r"\S+\s*")
_LINE = re.compile(r"\n\s*")
# A unit that is short (most words, some lines) ends a piece in one of eight cases; the others are gathered.
_UNIT_MASK = 7


def cut_block(text: str, block: Block, limits: Limits) -> Iterator[Weighed]:
    """Yield (start, end, weight) of pieces that cover the block, none above the limit, cut as coarsely as possible."""
    cutters: tuple[Cutter, ...] = (_line_cuts, _sentence_cuts, _word_cuts)
    if block.kind in ("paragraph", "heading"):
        cutters = cutters[1:]
    if block.kind in ("list", "table"):
        yield from _refined(text, [block.start, *block.cuts, block.end], cutters, limits)
    else:
        yield from _cut(text, block.start, block.end, cutters, limits)


def _cut(text: str, start: int, end: int, cutters: tuple[Cutter, ...], limits: Limits) -> Iterator[Weighed]:
    first, *others = cutters
    bounds = [start, *(cut for cut in first(text, start, end) if start < cut < end), end]
    return _refined(text, bounds, tuple(others), limits)


def _refined(text: str, bounds: list[int], cutters: tuple[Cutter, ...], limits: Limits) -> Iterator[Weighed]:
    for start, end in pairwise(_gathered(text, bounds, limits)):
        weight = limits.weigh(text[start:end])
        if weight <= limits.max_characters:
            yield start, end, weight
        elif cutters:
            yield from _cut(text, start, end, cutters, limits)
        else:
            for first, last in pairwise([start, *place_cuts(text, start, end, limits), end]):
                yield first, last, limits.weigh(text[first:last])


def _gathered(text: str, bounds: list[int], limits: Limits) -> Iterator[int]:
    """The bounds without most of those that would make a piece too short to be worth a choice."""
    shortest, enough = limits.piece_characters // 10, limits.piece_characters // 4
    last = bounds[0]
    yield last
    for unit, end in pairwise(bounds):
        # An overlong unit gets no neighbours: it is cut further, and they are not.
        if end - unit > limits.piece_characters and unit > last:
            yield unit
            last = unit
        length = end - last
        is_chosen = length >= enough or (length >= shortest and not zlib.crc32(text[unit:end].encode()) & _UNIT_MASK)
        if is_chosen and end < bounds[-1]:
            yield end
            last = end
    yield bounds[-1]


def _line_cuts(text: str, start: int, end: int) -> Iterator[int]:
    # Behind blank lines, but in front of the next line's own indent.
    return (text.rfind("\n", found.start(), found.end()) + 1 for found in _LINE.finditer(text, start, end))


def _sentence_cuts(text: str, start: int, end: int) -> Iterator[int]:
    ends = (found.end() for found in _SENTENCE.finditer(text, start, end))
    return (cut for cut in ends if not joins_before(text, cut))


def _word_cuts(text: str, start: int, end: int) -> Iterator[int]:
    ends = (found.end() for found in _WORD.finditer(text, start, end))
    return (cut for cut in ends if not joins_before(text, cut))
