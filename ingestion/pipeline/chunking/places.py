"""Cuts inside an endless word: minified code, a long address, CJK without punctuation, a chain of emoji.

A place is chosen by the few characters before it, so that an edit moves only the places beside it. Never inside a
grapheme, unless a single one is longer than a piece may be: then between its code points, as the last resort.
"""

import zlib
from collections.abc import Iterator
from itertools import pairwise

from ingestion.pipeline.chunking.graphemes import grapheme_ends
from ingestion.pipeline.chunking.limits import Limits

# One place in 64 is chosen: pieces of about 64 characters leave the boundary between chunks a choice.
_MASK = 63
_BEFORE = 6
# The most that a character takes in UTF-8.
_CHARACTER_BYTES = 4


def place_cuts(text: str, start: int, end: int, limits: Limits) -> Iterator[int]:
    """Yield the places that cut `text[start:end]` into pieces of at most a quarter of a chunk."""
    words_end = start + len(text[start:end].rstrip())
    if text[start:words_end].isascii():
        yield from _ascii_cuts(text[start:words_end].encode(), start, limits)
    else:
        yield from _grapheme_cuts(text, start, words_end, limits)


def _ascii_cuts(word: bytes, start: int, limits: Limits) -> Iterator[int]:
    step = min(limits.piece_characters, limits.piece_bytes)
    chosen = [at for at in range(_BEFORE, len(word)) if not zlib.crc32(word[at - _BEFORE : at]) & _MASK]
    for first, last in pairwise([0, *chosen, len(word)]):
        if first:
            yield start + first
        yield from range(start + first + step, start + last, step)


def _grapheme_cuts(text: str, start: int, end: int, limits: Limits) -> Iterator[int]:
    last = before = start
    taken = 0
    for place in grapheme_ends(text, start, end):
        size = len(text[before:place].encode())
        is_full = place - last > limits.piece_characters or taken + size > limits.piece_bytes
        if is_full and before > last:
            yield before
            last, taken = before, 0
        taken += size
        if taken > limits.piece_bytes or place - last > limits.piece_characters:
            yield from _torn(last, place, limits)
        if place < end and not zlib.crc32(text[max(place - _BEFORE, start) : place].encode()) & _MASK:
            yield place
            last, taken = place, 0
        before = place


def _torn(start: int, end: int, limits: Limits) -> Iterator[int]:
    step = max(min(limits.piece_characters, limits.piece_bytes // _CHARACTER_BYTES), 1)
    yield from range(start + step, end, step)
