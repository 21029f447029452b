"""Turns sections into the pieces that chunks are made of, and keeps together what belongs together.

A heading stays with what follows it, a line that ends in a colon with its list or table, a table's head with its
first row, and blanks with the words before them. Chooses no boundaries.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ingestion.pipeline.chunking.blocks import Block
from ingestion.pipeline.chunking.cutting import cut_block
from ingestion.pipeline.chunking.limits import Limits
from ingestion.pipeline.chunking.sections import Section


class Piece(NamedTuple):
    """A slice that no chunk boundary cuts; `table_head` is (start, end) of the head that it does without."""

    start: int
    end: int
    weight: int
    path: tuple[str, ...]
    table_head: tuple[int, int] | None = None
    holds_next: bool = False


def pieces_of(text: str, group: Sequence[Section], limits: Limits) -> list[Piece]:
    """The pieces of a group of sections, in order and without a gap; a tiny section among several is one piece."""
    pieces = (
        piece
        for section, path in zip(group, _led_paths(group), strict=True)
        for piece in _section_pieces(text, section, path, limits, is_alone=len(group) == 1)
    )
    return list(_glued(_without_blanks(text, pieces, limits), limits))


def _led_paths(group: Sequence[Section]) -> list[tuple[str, ...]]:
    """The path of each section; a heading without text has that of the section it leads to, where the words are."""
    paths: list[tuple[str, ...]] = []
    for section in reversed(group):
        paths.append(paths[-1] if section.is_bare and paths else section.path)
    return paths[::-1]


def _section_pieces(
    text: str, section: Section, path: tuple[str, ...], limits: Limits, *, is_alone: bool
) -> Iterator[Piece]:
    weight = limits.max_characters if is_alone else limits.weigh(text[section.start : section.end])
    if weight <= limits.tiny:
        yield Piece(section.start, section.end, weight, path, holds_next=section.is_bare)
        return
    for block in section.blocks:
        yield from _block_pieces(text, block, path, limits)


def _block_pieces(text: str, block: Block, path: tuple[str, ...], limits: Limits) -> Iterator[Piece]:
    weight = limits.weigh(text[block.start : block.end])
    if weight <= limits.max_characters:
        words = text[block.start : block.end].rstrip()
        leads = block.kind == "heading" or (block.kind == "paragraph" and words.endswith(":"))
        yield Piece(block.start, block.end, weight, path, holds_next=leads)
        return
    for start, end, piece_weight in cut_block(text, block, limits):
        is_behind_head = block.kind == "table" and start >= block.header_end
        head = (block.start, block.header_end) if is_behind_head else None
        yield Piece(start, end, piece_weight, path, head)


def _without_blanks(text: str, pieces: Iterable[Piece], limits: Limits) -> Iterator[Piece]:
    """Hang each blank piece on the one before it, or on the next where it is the first."""
    held: Piece | None = None
    has_grown = False
    for piece in pieces:
        if held is None:
            held = piece
        elif text[piece.start : piece.end].isspace():
            held, has_grown = held._replace(end=piece.end), True
        elif text[held.start : held.start + 1].isspace() and text[held.start : held.end].isspace():
            held, has_grown = piece._replace(start=held.start), True
        else:
            yield _weighed(text, held, limits) if has_grown else held
            held, has_grown = piece, False
    if held is not None:
        yield _weighed(text, held, limits) if has_grown else held


def _weighed(text: str, piece: Piece, limits: Limits) -> Piece:
    return piece._replace(weight=limits.weigh(text[piece.start : piece.end]))


def _glued(pieces: Iterable[Piece], limits: Limits) -> Iterator[Piece]:
    held: Piece | None = None
    for piece in pieces:
        if held is not None and held.holds_next and held.weight + piece.weight <= limits.max_characters:
            held = piece._replace(start=held.start, weight=held.weight + piece.weight, table_head=None)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held
