"""Scorecards: each configuration's columns with every pass, the median and the range, as Markdown tables."""

from collections.abc import Sequence
from pathlib import Path

from loadtests.passes import ranges, read


def card(folder: Path) -> list[str]:
    """The filled scorecard of one configuration; each pass has its own column."""
    summaries = read(folder)
    found = ranges(summaries)
    heads = [f"pass {one['pass']}" for one in summaries]
    lines = [_cells(["column", "unit", *heads, "median", "range"]), _cells(["---"] * (len(heads) + 4))]
    for one in found.values():
        shown = [one.column.shown(value) for value in one.values]
        span = f"{one.column.shown(one.least)} – {one.column.shown(one.most)}"
        lines.append(_cells([one.column.words, one.column.unit, *shown, one.column.shown(one.middle), span]))
    return lines


def brief(folder: Path, names: Sequence[str]) -> list[str]:
    """A few columns with median and range."""
    found = ranges(read(folder))
    lines = ["| column | median (range) |", "|---|---|"]
    for name in names:
        if name in found:
            unit = f", {found[name].column.unit}" if found[name].column.unit else ""
            lines.append(f"| {found[name].column.words}{unit} | {found[name].shown} |")
    return lines


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
