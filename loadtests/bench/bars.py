"""A bar for each contestant with its range, as SVG, readable on a light and on a dark page (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from loadtests.charts import COLOURS, STYLE, WIDTH, nice
from loadtests.recording import shown

LABELS, NUMBERS, ROW, TOP = 250, 80, 26, 34
OURS, OTHERS = COLOURS[0], "#8a8f98"


@dataclass(frozen=True)
class Bar:
    """A median with its range; `is_ours` gives it the product's colour."""

    name: str
    median: float
    least: float
    most: float
    is_ours: bool = False


def bars(title: str, rows: Sequence[Bar]) -> str:
    """The SVG text: bars from nought, a thin line over each from its least pass to its most."""
    height = TOP + ROW * len(rows) + 8
    most = nice(max((row.most for row in rows), default=1.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<text x="8" y="18">{escape(title)}</text>',
        *(part for place, row in enumerate(rows) for part in _bar(row, TOP + ROW * place, most)),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _bar(row: Bar, y: int, most: float) -> list[str]:
    width = (WIDTH - LABELS - NUMBERS) / most
    middle = y + ROW // 2
    colour = OURS if row.is_ours else OTHERS
    return [
        f'<text x="{LABELS - 8}" y="{middle + 4}" text-anchor="end">{escape(row.name)}</text>',
        f'<rect x="{LABELS}" y="{y + 4}" width="{max(1.0, row.median * width):.1f}" height="{ROW - 8}" '
        f'fill="{colour}"/>',
        f'<line class="axis" x1="{LABELS + row.least * width:.1f}" x2="{LABELS + row.most * width:.1f}" '
        f'y1="{middle}" y2="{middle}"/>',
        f'<text x="{LABELS + row.most * width + 8:.1f}" y="{middle + 4}">{shown(row.median)}</text>',
    ]
