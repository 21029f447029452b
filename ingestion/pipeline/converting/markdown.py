"""Writes blocks as Markdown: paragraphs, headings, lists, quotes, fences and tables. Knows nothing of any file format.

Only what would change the structure is escaped: a paragraph's words stay as a reader saw them, because passages are
quoted from this text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.pipeline.converting.refusals import too_much

_BLANKS = re.compile(r"[ \t\n\r\f]+")
# Lines that would be a heading, an underline or a rule, a fence, or HTML. Typed numbers and dashes are lists.
_OPENERS = re.compile(r"#{1,6}(?:\s|$)|[-=*_|: ]*[-=*_]{1,}[-=*_|: ]*$|```|~~~|<[a-zA-Z/!?]")
_FENCES = re.compile(r"`{3,}")
# Deeper lists and quotes than any reader follows are written at this depth.
_DEEPEST = 10


@dataclass(slots=True)
class _Container:
    """`first` stands before the container's first line, `rest` before the others."""

    first: str
    rest: str
    is_item: bool
    is_begun: bool = False


class Markdown:
    """The text so far. Inline text is gathered by `say` and becomes a block with the next block's begin."""

    def __init__(self, most: int) -> None:
        self._parts: list[str] = []
        self._words: list[str] = []
        self._containers: list[_Container] = []
        self._was_item = False
        self._left = most

    def say(self, words: str) -> None:
        """Adds inline text; a line end in it is kept only where `break_line` made it."""
        self._words.append(_BLANKS.sub(" ", words))

    def break_line(self) -> None:
        self._words.append("\n")

    def paragraph(self) -> None:
        """What was said so far is a paragraph of its own."""
        if lines := self._said():
            self._block([_escaped(line) for line in lines])

    def heading(self, level: int) -> None:
        """What was said so far is a heading, on one line."""
        if lines := self._said():
            self._block(["#" * level + " " + " ".join(lines)])

    def fence(self, source: str) -> None:
        """The source is code, its lines as they are."""
        self.paragraph()
        runs = [len(run) for run in _FENCES.findall(source)]
        mark = "`" * max([3, *(run + 1 for run in runs)])
        self._block([mark, *source.strip("\n").split("\n"), mark])

    def rule(self) -> None:
        """A thematic break; of stars, because one of dashes at the very start would read as front matter."""
        self.paragraph()
        self._block(["***"])

    def table(self, rows: Sequence[Sequence[str]], *, has_header: bool) -> None:
        """Rows as a GFM table, the first one as its head; without a header the head is empty."""
        self.paragraph()
        width = max((len(row) for row in rows), default=0)
        if not width:
            return
        head = rows[0] if has_header else [""] * width
        lines = [_row(head, width), "|" + "---|" * width]
        self._block(lines + [_row(row, width) for row in rows[has_header:]])

    def open_item(self, marker: str) -> None:
        """What follows is in a list item until `close`."""
        self.paragraph()
        self._open(_Container(marker + " ", " " * (len(marker) + 1), True))

    def open_quote(self) -> None:
        self.paragraph()
        self._open(_Container("> ", "> ", False))

    def close(self) -> None:
        """Ends the innermost item or quote."""
        self.paragraph()
        self._containers.pop()

    def text(self) -> str:
        """All that was written, with one line end behind the last block."""
        self.paragraph()
        return "".join(self._parts)

    def _open(self, container: _Container) -> None:
        if len(self._containers) >= _DEEPEST:
            container = _Container("", "", container.is_item)
        self._containers.append(container)

    def _said(self) -> list[str]:
        words, self._words = "".join(self._words), []
        lines = (_BLANKS.sub(" ", line).strip(" ") for line in words.split("\n"))
        return [line for line in lines if line]

    def _block(self, lines: Sequence[str]) -> None:
        begins_item = any(container.is_item and not container.is_begun for container in self._containers)
        # Items follow each other closely; every other block stands behind a blank line.
        if self._parts and not (begins_item and self._was_item):
            begun = (container.rest for container in self._containers if container.is_begun)
            self._write("".join(begun).rstrip() + "\n")
        self._was_item = any(container.is_item for container in self._containers)
        first = rest = ""
        for container in self._containers:
            first += container.rest if container.is_begun else container.first
            rest += container.rest
            container.is_begun = True
        for number, line in enumerate(lines):
            self._write(((rest if number else first) + line).rstrip() + "\n")

    def _write(self, line: str) -> None:
        self._left -= len(line)
        if self._left < 0:
            raise too_much("The file holds more text than one document may. Split it.")
        self._parts.append(line)


def one_line(words: str) -> str:
    """The words without line ends and double blanks."""
    return _BLANKS.sub(" ", words).strip(" ")


def _escaped(line: str) -> str:
    return "\\" + line if _OPENERS.match(line) else line


def _row(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in padded) + " |"
