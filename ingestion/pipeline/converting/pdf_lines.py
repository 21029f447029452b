"""The lines of a PDF's page as PDFium finds them: their words, where they stand, how large and how bold they are."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as raw

# How PDFium marks a hyphen at the end of a line that only breaks a word.
BROKEN_WORD = "\u00ad"
_HYPHENS = frozenset({0x0002, 0x00AD, 0xFFFE})
_BREAKS = frozenset({0x0000, 0x000A, 0x000D})
# Latin letters that fonts join, as single characters; a search for "office" would miss them.
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
# A gap of more than this part of the line's height is between two cells, not between two words.
_CELL_GAP = 1.1
_BOLD_WEIGHT = 600
# The part of a page's height, above and below, in which heads and feet stand.
_MARGIN = 0.075


@dataclass(slots=True)
class Cell:
    """Words without a wide gap between them."""

    left: float
    right: float
    words: str


@dataclass(slots=True)
class Line:
    """One line of a page in points from its lower left corner; `height` is that of its font.

    `is_in_margin`: it stands where heads and feet do.
    """

    cells: list[Cell] = field(default_factory=list)
    bottom: float = 0.0
    height: float = 0.0
    is_bold: bool = False
    is_in_margin: bool = False

    @property
    def words(self) -> str:
        return " ".join(cell.words for cell in self.cells)

    @property
    def left(self) -> float:
        return self.cells[0].left

    @property
    def right(self) -> float:
        return self.cells[-1].right


def lines_of(page: pdfium.PdfPage) -> list[Line]:
    """The lines of a page that have words, in the order of the page's own text."""
    text_page = page.get_textpage()
    margin = page.get_height() * _MARGIN
    try:
        reader = _Reader(text_page.raw)
        found = [reader.line(first, last) for first, last in reader.spans(text_page.count_chars())]
    finally:
        text_page.close()
    for line in found:
        line.is_in_margin = not margin <= line.bottom <= page.get_height() - margin
    return [line for line in found if line.cells]


class _Reader:
    """Asks PDFium for each character once."""

    def __init__(self, text_page: raw.FPDF_TEXTPAGE) -> None:
        self._page = text_page
        self._box = raw.FS_RECTF()
        self._codes: list[int] = []

    def spans(self, count: int) -> Iterator[tuple[int, int]]:
        """First and last (exclusive) character of each line."""
        self._codes = [raw.FPDFText_GetUnicode(self._page, at) for at in range(count)]
        first = 0
        for at, code in enumerate(self._codes):
            if code in _BREAKS:
                if at > first:
                    yield first, at
                first = at + 1
        if count > first:
            yield first, count

    def line(self, first: int, last: int) -> Line:
        line = Line()
        cell: list[str] = []
        left = right = 0.0
        tallest = at_tallest = 0.0
        for at in range(first, last):
            code = self._codes[at]
            if code in (0x20, 0xA0, 0x09):
                cell.append(" ")
                continue
            raw.FPDFText_GetLooseCharBox(self._page, at, ctypes.byref(self._box))
            box_left, height = self._box.left, self._box.top - self._box.bottom
            if cell and box_left - right > _CELL_GAP * max(height, tallest, 1.0):
                _add(line, left, right, cell)
                cell = []
            if not cell:
                left = box_left
            right = self._box.right
            cell.append(_letter(code))
            if height > tallest:
                tallest, at_tallest = height, self._box.bottom
        _add(line, left, right, cell)
        line.height, line.bottom = tallest, at_tallest
        line.is_bold = self._is_bold(first) and self._is_bold(last - 1)
        return line

    def _is_bold(self, at: int) -> bool:
        if raw.FPDFText_GetFontWeight(self._page, at) >= _BOLD_WEIGHT:
            return True
        name, flags = ctypes.create_string_buffer(64), ctypes.c_int()
        raw.FPDFText_GetFontInfo(self._page, at, name, 64, ctypes.byref(flags))
        return b"bold" in name.value.lower()


def _add(line: Line, left: float, right: float, cell: list[str]) -> None:
    words = " ".join("".join(cell).split(" ")).strip()
    # PDFium hands out code units: a pair of surrogates is one character.
    words = words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if words:
        line.cells.append(Cell(left, right, words))


def _letter(code: int) -> str:
    return BROKEN_WORD if code in _HYPHENS else _LIGATURES.get(code) or chr(code)
