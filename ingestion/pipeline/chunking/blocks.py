"""Splits a text into its top-level Markdown blocks, by the block structure of CommonMark and the tables of GFM.

A scanner of our own, because only line numbers are needed, in little memory. markdown-it-py gives the same answer and
is the oracle of the tests, but it builds a token for each line: a megabyte of short list items takes it four seconds
and several hundred MiB. semantic-text-splitter packs by a running sum, so one edit moves every later boundary, and it
tells nothing of the headings. Reference definitions are paragraphs here, and nesting deeper than 20 is text.
Nothing here knows sizes, tokens or chunks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ingestion.pipeline.chunking import lines

# Deeper quotes and lists than any reader follows; keeps a line of half a million marks cheap.
_DEEPEST = 20
_QUOTE = 0


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


@dataclass(slots=True)
class _Open:
    """What stands open after the lines so far: the containers around, and the leaf inside them."""

    containers: list[int] = field(default_factory=list)
    leaf: str = ""
    fence: str = ""
    html_end: re.Pattern[str] = lines.ENDS_AT_BLANK
    is_item_empty: bool = False
    marker: str = ""
    last_marker: str = ""
    level: int = 0

    def feed(self, line: str) -> str:
        """The kind of top-level block that the line opens; nothing where it belongs to the one in hand."""
        rest, matched = self._match(line)
        if matched == len(self.containers) and self.leaf in ("fence", "html"):
            self._feed_raw(rest)
            return ""
        if not rest or rest.isspace():
            self._feed_blank(matched)
            return ""
        return self._open(rest, matched)

    def _match(self, line: str) -> tuple[str, int]:
        for depth, container in enumerate(self.containers):
            indent = lines.indent_of(line)
            if container == _QUOTE:
                if indent > 3 or line[indent : indent + 1] != ">":
                    return line, depth
                line = line[indent + 1 :].removeprefix(" ")
            elif indent >= container:
                line = line[container:]
            elif line and not line.isspace():
                return line, depth
        return line, len(self.containers)

    def _feed_raw(self, rest: str) -> None:
        if self.leaf == "fence":
            is_over = lines.closes_fence(rest, self.fence)
        elif self.html_end is lines.ENDS_AT_BLANK:
            is_over = not rest or rest.isspace()
        else:
            is_over = bool(self.html_end.search(rest))
        if is_over:
            self.leaf = ""

    def _feed_blank(self, matched: int) -> None:
        if matched < len(self.containers) or self.leaf != "code":
            self.leaf = ""
        if self.is_item_empty and matched == len(self.containers):
            # An item may begin with one blank line, not with two.
            self.containers.pop()
        del self.containers[matched:]
        self.is_item_empty = False

    def _open(self, rest: str, matched: int) -> str:
        in_paragraph = self.leaf == "paragraph"
        is_inside = matched == len(self.containers)
        self.is_item_empty = False
        opened = ""
        while True:
            may_lazily_go_on = in_paragraph and not opened
            depth = len(self.containers) if opened else matched
            kind, rest_after, width = self._start(rest, depth, may_lazily_go_on, may_lazily_go_on and is_inside)
            if kind == "paragraph" and may_lazily_go_on:
                return ""
            if kind == "code" and self.leaf == "code" and is_inside and not opened:
                return ""
            if not opened:
                del self.containers[matched:]
                opened = kind
                self.marker = self.last_marker if matched == 0 else self.marker
            if kind not in ("quote", "list"):
                break
            self.containers.append(width)
            self.leaf = ""
            rest = rest_after
            if not rest or rest.isspace():
                self.is_item_empty = kind == "list"
                return opened if matched == 0 else ""
        self.leaf = "" if kind in ("heading", "setext", "rule") else kind
        if kind == "html" and self.html_end.search(rest):
            self.leaf = ""
        return opened if matched == 0 else ""

    def _start(self, rest: str, depth: int, lazy: bool, interrupts: bool) -> tuple[str, str, int]:
        indent = lines.indent_of(rest)
        if indent > 3:
            return ("paragraph" if lazy else "code"), rest, 0
        line = rest[indent:]
        if depth >= _DEEPEST:
            return "paragraph", rest, 0
        if line[0] == ">":
            return "quote", line[1:].removeprefix(" "), _QUOTE
        if level := lines.heading_level(line):
            self.level = level
            return "heading", rest, 0
        if fence := lines.fence_of(line):
            self.fence = fence
            return "fence", rest, 0
        if (html_end := lines.html_end_of(line, interrupts=lazy)) is not None:
            self.html_end = html_end
            return "html", rest, 0
        if interrupts and (level := lines.setext_level(line)):
            self.level = level
            return "setext", rest, 0
        if lines.is_rule(line):
            return "rule", rest, 0
        if item := lines.item_of(line, interrupts=interrupts):
            self.last_marker, width = item
            return "list", line[width:], indent + width
        return "paragraph", rest, 0


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
    """Turns the answers of `_Open` into blocks, and adds what needs two lines: tables and setext headings."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._open = _Open()
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
