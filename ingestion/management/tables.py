"""Rows for a person: a drawn table where standard output is a terminal, aligned columns elsewhere."""

from collections.abc import Sequence

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.table import Table

Row = Sequence[str]


def show(out: OutputWrapper, headings: Row, rows: Sequence[Row], numbers: Sequence[int] = ()) -> None:
    """The rows stand under their headings; the columns in `numbers` (from 0) end at their right."""
    if out.isatty():
        _draw(headings, rows, numbers)
        return
    widths = [max(len(row[place]) for row in (headings, *rows)) for place in range(len(headings))]
    for row in (headings, *rows):
        cells = [
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.write("  ".join(cells).rstrip())


def _draw(headings: Row, rows: Sequence[Row], numbers: Sequence[int]) -> None:
    table = Table(header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        # Texts come from people: square brackets in them are no markup.
        table.add_row(*(cell.replace("[", "\\[") for cell in row))
    Console().print(table)
