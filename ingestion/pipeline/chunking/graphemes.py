"""Says where a text may be cut without tearing what a reader sees as one character (UAX 29, extended clusters).

The rules come from `regex`, which follows the newest Unicode. Knows nothing of blocks or sizes.
"""

import itertools
from collections.abc import Iterator

import regex

# Flags first: `\X` alone counts back over the whole row of flags at each one, which is quadratic.
_CLUSTER = regex.compile(r"\p{RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X")
_JOINS_BEFORE = regex.compile(r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]")


def joins_before(text: str, position: int) -> bool:
    """Whether the character at `position` clings to a blank or a full stop before it, as a combining mark does."""
    return position < len(text) and text[position] > "\x7f" and bool(_JOINS_BEFORE.match(text, position))


def grapheme_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the end of every grapheme of `text[start:end]`; `start` must be a boundary itself."""
    if text[start:end].isascii():
        # The only cluster of ASCII is CR LF, which a normalised text does not have.
        return iter(range(start + 1, end + 1))
    return (found.end() for found in _CLUSTER.finditer(text, start, end))


def clip_graphemes(text: str, max_characters: int) -> str:
    """The longest start of `text` with at most `max_characters` characters and whole graphemes only."""
    if len(text) <= max_characters:
        return text
    ends = itertools.takewhile(lambda end: end <= max_characters, grapheme_ends(text, 0, len(text)))
    return text[: max(ends, default=0)]
