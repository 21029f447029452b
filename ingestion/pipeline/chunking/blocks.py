"""Splits a text into its top-level Markdown blocks, by the block structure of CommonMark and the tables of GFM.

A scanner of our own, because only line numbers are needed, in little memory. markdown-it-py gives the same answer and
is the oracle of the tests, but it builds a token for each line: a megabyte of short list items takes it four seconds
and several hundred MiB. semantic-text-splitter packs by a running sum, so one edit moves every later boundary, and it
tells nothing of the headings. Reference definitions are paragraphs here, and nesting deeper than 20 is text.
Nothing here knows sizes, tokens or chunks.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingestion.pipeline.chunking import lines
from ingestion.pipeline.chunking.open_blocks import OpenBlocks

# What most of a policy is made of, where nothing stands open: lines that begin with a letter up to a blank one, and a
# heading. Recognised at once, because a rule for each line would be most of the work.
_PARAGRAPH = re.compile(r"(?:[a-zA-Z][^\n]*\n)+\n+")
_HEADING = re.compile(r"(#{1,6}) [^\n\t]*(\n+|\Z)")


class Block(NamedTuple):
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
    size = len(text)
    while start < size:
        if end := scanner.plain_end(start):
            yield from scanner.begun(start)
            start = end
            continue
        end = text.find("\n", start)
        end = size if end < 0 else end
        if not scanner.goes_on(start):
            yield from scanner.feed(start, end)
        start = end + 1
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


# The containers of a list whose items begin with one mark and one blank.
_ONE_ITEM = [2]


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
        self._plain = ("", 0)

    def plain_end(self, start: int) -> int:
        """The end of a paragraph or heading that begins here and of the blank lines behind it; 0 for all else."""
        opened = self._open
        if self._in_table or opened.leaf or opened.containers:
            return 0
        if found := _PARAGRAPH.match(self._text, start):
            self._plain = ("paragraph", 0)
        elif found := _HEADING.match(self._text, start):
            self._plain = ("heading", found.end(1) - start)
        return found.end() if found else 0

    def begun(self, start: int) -> Iterator[Block]:
        """What `plain_end` has found is the block in hand."""
        kind, level = self._plain
        end = self._text.find("\n", start)
        yield from self._begin(Block(kind, start, start, level, len(self._text) if end < 0 else end))

    def goes_on(self, start: int) -> bool:
        """Whether the line is one more row or item of the block in hand, as far as its first characters tell."""
        text = self._text
        if self._in_table:
            is_more = text[start] == "|"
        else:
            opened = self._open
            is_more = (
                opened.containers == _ONE_ITEM
                and opened.leaf == "paragraph"
                and self._hand.kind == "list"
                and text[start] == self._marker
                and text[start + 1 : start + 2] == " "
                and text[start + 2 : start + 3].isalpha()
            )
        if is_more:
            self._cuts.append(start)
        return is_more

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
            self._hand = self._hand._replace(kind="heading", level=self._open.level, title_end=start)
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
            self._hand = head._replace(start=self._hand.start)
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
            self._hand = block._replace(start=self._hand.start)
        self._cuts = []
        self._marker = self._open.marker

    def _finished(self, end: int) -> Block:
        hand = self._hand
        return Block(hand.kind, hand.start, end, hand.level, hand.title_end, tuple(self._cuts), hand.header_end)

    def finish(self) -> Iterator[Block]:
        if self._hand.start < len(self._text):
            yield self._finished(len(self._text))._replace(kind=self._hand.kind or "paragraph")
