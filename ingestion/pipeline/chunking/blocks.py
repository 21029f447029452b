"""Splits a text into its top-level Markdown blocks, by the block structure of CommonMark and the tables of GFM.

A scanner of our own, because only line numbers are needed, in little memory. markdown-it-py gives the same answer and
is the oracle of the tests, but it builds a token for each line: a megabyte of short list items takes it four seconds
and several hundred MiB. semantic-text-splitter packs by a running sum, so one edit moves every later boundary, and it
tells nothing of the headings. Reference definitions are paragraphs here, and nesting deeper than 20 is text.
Nothing here knows sizes, tokens or chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingestion.pipeline.chunking import lines
from ingestion.pipeline.chunking.open_blocks import OpenBlocks


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block with the blank lines after it; offsets are code points into the text.

    `kind` is heading, paragraph, list, table, quote, fence, code, html or rule; `cuts` are the starts of its items or
    rows (without the first), `header_end` the end of a table's head and its line of dashes.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    title_end: int = 0
    cuts: tuple[int, ...] = ()
    header_end: int = 0


def markdown_blocks(text: str, start: int = 0) -> Iterator[Block]:
    """Yield the top-level blocks of `text` from `start` on; together they cover it, each up to the next one's start."""
    scanner = _Scanner(text, start)
    for begin, end in _line_ends(text, start):
        yield from scanner.feed(begin, end)
    yield from scanner.finish()


def plain_blocks(text: str, start: int = 0) -> Iterator[Block]:
    """Yield the paragraphs of a text without markup, each with the blank lines after it."""
    begin, has_words, was_blank = start, False, False
    for line_start, line_end in _line_ends(text, start):
        is_blank = line_start == line_end or text[line_start:line_end].isspace()
        if was_blank and not is_blank and has_words:
            yield Block("paragraph", begin, line_start)
            begin = line_start
        has_words = has_words or not is_blank
        was_blank = is_blank
    if begin < len(text):
        yield Block("paragraph", begin, len(text))


def _line_ends(text: str, start: int) -> Iterator[tuple[int, int]]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


class _Scanner:
    """Turns the answers of `OpenBlocks` into blocks, and adds what needs two lines: tables and setext headings."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._open = OpenBlocks()
        self._hand = Block("", start, start)
        self._cuts: list[int] = []
        self._marker = ""
        self._line = ""
        self._line_start = start
        self._in_table = False

    def feed(self, start: int, end: int) -> Iterator[Block]:
        line = self._text[start:end]
        if "\t" in line:
            line = line.expandtabs(4)
        yield from self._place(line, start, end)
        self._line, self._line_start = line, start

    def _place(self, line: str, start: int, end: int) -> Iterator[Block]:
        if self._in_table:
            if line and not line.isspace() and not lines.opens_block(line):
                self._cuts.append(start)
                return
            self._in_table = False
        if self._begins_table(line):
            yield from self._turn_into_table(end)
            return
        kind = self._open.feed(line)
        if kind == "setext":
            self._hand = replace(self._hand, kind="heading", level=self._open.level, title_end=start)
        elif kind == "list" and self._hand.kind == "list" and self._open.marker == self._marker:
            self._cuts.append(start)
        elif kind:
            yield from self._begin(Block(kind, start, start, self._open.level if kind == "heading" else 0, end))

    def _begins_table(self, line: str) -> bool:
        is_paragraph = self._open.leaf == "paragraph" and not self._open.containers
        return is_paragraph and lines.indent_of(self._line) < 4 and lines.is_table(self._line, line)

    def _turn_into_table(self, end: int) -> Iterator[Block]:
        self._open.leaf = ""
        self._in_table = True
        head = Block("table", self._line_start, end, header_end=min(end + 1, len(self._text)))
        if self._hand.start == self._line_start or not self._text[self._hand.start : self._line_start].strip():
            self._hand = replace(head, start=self._hand.start)
        else:
            yield from self._begin(head)

    def _begin(self, block: Block) -> Iterator[Block]:
        if self._hand.kind:
            finished = self._finished(block.start)
            self._hand = block
            self._cuts = []
            self._marker = self._open.marker
            yield finished
        else:
            # Blank lines at the very start belong to the first block.
            self._hand = replace(block, start=self._hand.start)
        self._cuts = []
        self._marker = self._open.marker

    def _finished(self, end: int) -> Block:
        hand = self._hand
        return Block(hand.kind, hand.start, end, hand.level, hand.title_end, tuple(self._cuts), hand.header_end)

    def finish(self) -> Iterator[Block]:
        if self._hand.start < len(self._text):
            yield replace(self._finished(len(self._text)), kind=self._hand.kind or "paragraph")
