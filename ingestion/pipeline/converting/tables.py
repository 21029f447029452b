"""Tables of HTML as rows of cells: spans are filled, so that every row can be read alone, as a passage is."""

from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from ingestion.pipeline.converting.markdown import one_line
from ingestion.pipeline.converting.refusals import too_much

# What a cell may span; a table of a policy is far narrower, and a hostile one is not blown up.
_WIDEST_SPAN = 50
_LONGEST_SPAN = 500
_MOST_CELLS = 200_000
_SEPARATED = frozenset({
    "address", "blockquote", "br", "dd", "div", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "p", "pre",
})  # fmt: skip


def is_layout(table: LexborNode) -> bool:
    """Whether the table only places blocks on a page: it holds tables or headings, or no row has two cells."""
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    # The selector finds the table itself too, where it lies in a cell.
    blocks = table.css("td table, th table, td h1, td h2, td h3, td h4")
    if any(block.mem_id != table.mem_id for block in blocks):
        return True
    return all(len(_cells_of(row)) < 2 for row in table.css("tr"))


def table_rows(table: LexborNode, is_hidden: Callable[[LexborNode], bool]) -> tuple[str, list[list[str]], bool]:
    """The caption, the rows, and whether the first row is a header.

    Where nothing marks one, the first row is taken for it, unless the table's headers stand in its first column.
    """
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    total = 0
    sources = [row for row in table.css("tr") if not is_hidden(row)]
    for row in sources:
        filled = list(_filled(row, hanging, is_hidden))
        total += len(filled)
        if total > _MOST_CELLS:
            raise too_much(f"A table has more than {_MOST_CELLS} cells. Split it.")
        if any(filled):
            rows.append(filled)
    caption = table.css_first("caption")
    return one_line(caption.text()) if caption else "", rows, not _has_row_headers(sources)


def _filled(
    row: LexborNode, hanging: dict[int, tuple[int, str]], is_hidden: Callable[[LexborNode], bool]
) -> Iterator[str]:
    """The words of each column, also of cells that reach down from a row above (`hanging`: rows left, words)."""
    column = 0
    for cell in _cells_of(row):
        while column in hanging:
            yield _let_down(hanging, column)
            column += 1
        words = cell_words(cell, is_hidden)
        down = _span(cell, "rowspan", _LONGEST_SPAN)
        for _ in range(_span(cell, "colspan", _WIDEST_SPAN)):
            if down > 1:
                hanging[column] = (down - 1, words)
            yield words
            column += 1
    while column in hanging:
        yield _let_down(hanging, column)
        column += 1


def _let_down(hanging: dict[int, tuple[int, str]], column: int) -> str:
    left, words = hanging[column]
    if left > 1:
        hanging[column] = (left - 1, words)
    else:
        del hanging[column]
    return words


def cell_words(cell: LexborNode, is_hidden: Callable[[LexborNode], bool]) -> str:
    """The cell's words on one line; its paragraphs and items are separated by blanks."""
    parts: list[str] = []
    # Each open element's next child, and what stands behind the element.
    stack = [(cell.child, "")]
    while stack:
        node, behind = stack.pop()
        if node is None:
            parts.append(behind)
            continue
        stack.append((node.next, behind))
        tag = node.tag or ""
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "img":
            parts.append(node.attributes.get("alt") or "")
        elif tag not in ("script", "style", "template", "-comment") and not is_hidden(node):
            gap = " " if tag in _SEPARATED else ""
            parts.append(gap)
            stack.append((node.child, gap))
    return one_line("".join(parts))


def _cells_of(row: LexborNode) -> list[LexborNode]:
    found = []
    node = row.child
    while node is not None:
        if node.tag in ("td", "th"):
            found.append(node)
        node = node.next
    return found


def _span(cell: LexborNode, name: str, most: int) -> int:
    digits = cell.attributes.get(name) or "1"
    return min(max(int(digits), 1), most) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 1


def _has_row_headers(rows: list[LexborNode]) -> bool:
    first = [[cell.tag for cell in _cells_of(row)] for row in rows[:3]]
    return bool(first) and all(tags[:1] == ["th"] and "td" in tags for tags in first)
