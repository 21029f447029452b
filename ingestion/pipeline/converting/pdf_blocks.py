"""From the lines of a PDF to its blocks: headings by size and weight, paragraphs by gaps, items by their marks, tables
by columns that stand under each other.

A PDF says where ink is, not what it means: these are guesses. No guess loses a word, save for page numbers and what is
repeated at the edges of the pages, which is kept once.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingestion.pipeline.converting.markdown import Markdown
from ingestion.pipeline.converting.pdf_lines import BROKEN_WORD, Cell, Line

# Larger than the body by this much: a heading.
_HEADING_SCALE = 1.15
_LONGEST_HEADING = 150
_HEADING_LEVELS = 4
# A gap above the usual one by this much: another paragraph.
_GAP_SCALE = 1.35
# A line that ends before this part of the page's width was ended on purpose.
_FULL_LINE = 0.8
_EDGE_LINES = 2
_EDGE_SHARE = 0.6
_EDGE_PAGES = 3
_ITEM = re.compile(r"(?:[•◦▪■●‣∙·–]|[-*])\s+|(\d{1,3})[.)]\s+")
_PAGE_NUMBER = re.compile(
    r"[-–\s]*(?:page|seite|página|pagina)?\s*#(?:\s*(?:of|/|von|de|di)\s*[#\d]+)?[-–\s]*", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class _Type:
    """The document's own measures: the height of its body, and the heights of its headings from the largest down."""

    body: float
    headings: tuple[float, ...]
    has_bold_body: bool

    def level(self, line: Line) -> int:
        """The level of a heading; 0 for other lines."""
        words = line.words
        if len(words) > _LONGEST_HEADING or len(line.cells) > 1 or (_ITEM.match(words) and line.height <= self.body):
            return 0
        if (height := _rounded(line.height)) in self.headings:
            return min(self.headings.index(height) + 1, _HEADING_LEVELS)
        is_heading = line.is_bold and not self.has_bold_body and not _SENTENCE_END.search(words) and len(words) < 90
        return min(len(self.headings) + 1, _HEADING_LEVELS) if is_heading else 0


def write_pages(pages: Sequence[Sequence[Line]], markdown: Markdown) -> None:
    """Writes the pages' blocks in order; a paragraph may go on over the end of a page."""
    kept = _without_edges(pages)
    measures = _measured([line for page in kept for line in page])
    writer = _Writer(markdown, measures)
    for page in kept:
        writer.page(page)
    writer.end_paragraph()


def _without_edges(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without their numbers, and with their repeated heads and feet only once."""
    body = _measured([line for page in pages for line in page]).body
    patterns = [{id(line): _pattern(line, number, body) for line in _edges(page)} for number, page in enumerate(pages)]
    counts = Counter(pattern for page in patterns for pattern in set(page.values()))
    least = max(_EDGE_PAGES, len(pages) * _EDGE_SHARE)
    seen: set[str] = set()
    kept = []
    for page, found in zip(pages, patterns, strict=True):
        lines = []
        for line in page:
            pattern = found.get(id(line), "")
            if pattern and counts[pattern] >= least:
                if pattern in seen or _PAGE_NUMBER.fullmatch(pattern):
                    continue
                seen.add(pattern)
            lines.append(line)
        kept.append(lines)
    return kept


def _edges(page: Sequence[Line]) -> list[Line]:
    """The lines in the margins, nearest to the top and to the bottom."""
    by_place = sorted((line for line in page if line.is_in_margin), key=lambda line: line.bottom)
    return [*by_place[:_EDGE_LINES], *by_place[_EDGE_LINES:][-_EDGE_LINES:]]


def _pattern(line: Line, number: int, body: float) -> str:
    """The line's words, and where it is no larger than the body with the page's own number as a mark.

    A document may count from another number: the first page may be the third that is counted.
    """
    if line.height > body * _HEADING_SCALE:
        return line.words
    own = {str(number + offset) for offset in range(-1, 4)}
    return re.sub(r"\d+", lambda found: "#" if found[0] in own else found[0], line.words)


def _measured(lines: Sequence[Line]) -> _Type:
    letters: Counter[float] = Counter()
    bold = 0
    for line in lines:
        letters[_rounded(line.height)] += len(line.words)
        bold += len(line.words) * line.is_bold
    body = letters.most_common(1)[0][0] if letters else 0.0
    sizes = sorted((height for height in letters if height >= body * _HEADING_SCALE), reverse=True)
    return _Type(body, tuple(sizes), bold * 2 > letters.total())


def _rounded(height: float) -> float:
    return round(height * 2) / 2


class _Writer:
    """Gathers lines into the block in hand, and writes it when another begins."""

    def __init__(self, markdown: Markdown, measures: _Type) -> None:
        self._markdown, self._measures = markdown, measures
        self._words = ""
        self._marker = ""
        self._level = 0
        self._before: Line | None = None

    def page(self, lines: Sequence[Line]) -> None:
        right = max((line.right for line in lines), default=0.0)
        left = min((line.left for line in lines), default=0.0)
        gaps = [above.bottom - line.bottom for above, line in pairwise(lines)]
        usual = median([gap for gap in gaps if 0 < gap < self._measures.body * 3] or [self._measures.body * 1.2])
        full = left + (right - left) * _FULL_LINE
        for part in _parts(lines, self._measures):
            if isinstance(part, Line):
                self._line(part, usual, full)
            else:
                self.end_paragraph()
                self._markdown.table(part, has_header=True)
                self._before = None

    def _line(self, line: Line, usual: float, full: float) -> None:
        words, level = line.words, self._measures.level(line)
        item = None if level else _ITEM.match(words)
        before, self._before = self._before, line
        if before is None or level != self._level or item or self._is_apart(before, line, usual):
            self.end_paragraph()
            self._level = level
            if item:
                self._marker = f"{item[1]}." if item[1] else "-"
                words = words[item.end() :]
            self._words = words
        elif self._words.endswith(BROKEN_WORD):
            self._words = self._words[:-1] + words
        else:
            self._words += (" " if before.right >= full or level else "\n") + words

    def _is_apart(self, before: Line, line: Line, usual: float) -> bool:
        gap = before.bottom - line.bottom
        if gap <= 0 or gap > usual * 5:
            # Another page or column: a sentence goes on there in small letters.
            return not (line.words[:1].islower() and not _SENTENCE_END.search(before.words))
        return gap > usual * _GAP_SCALE

    def end_paragraph(self) -> None:
        """The block in hand is written."""
        words, level, marker = self._words.replace(BROKEN_WORD, "-"), self._level, self._marker
        self._words, self._level, self._marker = "", 0, ""
        if not words:
            return
        if marker:
            self._markdown.open_item(marker)
        for number, line in enumerate(words.split("\n")):
            if number:
                self._markdown.break_line()
            self._markdown.say(line)
        if level:
            self._markdown.heading(level)
        else:
            self._markdown.paragraph()
        if marker:
            self._markdown.close()


def _parts(lines: Sequence[Line], measures: _Type) -> Iterator[Line | list[list[str]]]:
    """The lines one by one, and as rows those that stand in columns under each other."""
    at = 0
    while at < len(lines):
        rows, count = _table_at(lines, at, measures)
        if len(rows) > 1:
            yield rows
            at += count
        else:
            yield lines[at]
            at += 1


def _table_at(lines: Sequence[Line], first: int, measures: _Type) -> tuple[list[list[str]], int]:
    """The rows of the table that begins at the line, and how many lines they take."""
    columns = lines[first].cells
    rows: list[list[str]] = []
    if len(columns) < 2 or _ITEM.fullmatch(columns[0].words + " "):
        return rows, 0
    count = 0
    for line in lines[first:]:
        places = [_column(cell, columns, measures.body) for cell in line.cells]
        if None in places or len(set(places)) < len(places) or places == [0]:
            break
        if len(places) > 1 or not rows:
            rows.append([""] * len(columns))
        for place, cell in zip(places, line.cells, strict=True):
            assert place is not None
            rows[-1][place] = f"{rows[-1][place]} {cell.words}".strip()
        count += 1
    return rows, count


def _column(cell: Cell, columns: Sequence[Cell], tolerance: float) -> int | None:
    """The column under which the cell stands: the same left or right edge, or the same middle."""
    for number, column in enumerate(columns):
        edges = (
            cell.left - column.left,
            cell.right - column.right,
            (cell.left + cell.right - column.left - column.right) / 2,
        )
        if min(map(abs, edges)) <= tolerance / 2:
            return number
    return None
