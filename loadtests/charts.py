"""Small charts as SVG, readable on a light and on a dark page: lines over the seconds of a pass. Knows no product."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 34, 34
# Readable on white and on near-black alike.
COLOURS = ("#2f7ed8", "#d9822b", "#3d9970", "#b10dc9")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.axis{stroke:#999;stroke-width:1}.grid{stroke:#9994;stroke-width:1}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}}"
)


@dataclass(frozen=True)
class Line:
    """One curve: (second, value) in the order of time."""

    name: str
    points: Sequence[tuple[float, float]]


def chart(title: str, unit: str, lines: Sequence[Line]) -> str:
    """The SVG text of the lines over one axis of seconds; both axes begin at nought."""
    seconds = max((second for line in lines for second, _ in line.points), default=1.0) or 1.0
    most = nice(max((value for line in lines for _, value in line.points), default=1.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<text x="{LEFT}" y="16">{escape(title)} ({escape(unit)})</text>',
        *_legend(lines),
        *_grid(seconds, most),
        *(_curve(line, COLOURS[place % len(COLOURS)], seconds, most) for place, line in enumerate(lines)),
        "</svg>\n",
    ]
    return "\n".join(parts)


def nice(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten that is not below the value."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def _legend(lines: Sequence[Line]) -> list[str]:
    if len(lines) < 2:
        return []
    found, x = [], float(WIDTH - RIGHT)
    for place, line in reversed(list(enumerate(lines))):
        x -= 7.0 * len(line.name) + 22
        colour = COLOURS[place % len(COLOURS)]
        found.append(f'<rect x="{x:.0f}" y="8" width="10" height="10" fill="{colour}"/>')
        found.append(f'<text x="{x + 14:.0f}" y="17">{escape(line.name)}</text>')
    return found


def _grid(seconds: float, most: float) -> list[str]:
    found = []
    for step in range(5):
        y = _y(most * step / 4, most)
        found.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{most * step / 4:g}</text>')
        x = _x(seconds * step / 4, seconds)
        found.append(f'<text x="{x:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{seconds * step / 4:.0f} s</text>')
    found.append(f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    return found


def _curve(line: Line, colour: str, seconds: float, most: float) -> str:
    points = " ".join(f"{_x(second, seconds):.1f},{_y(value, most):.1f}" for second, value in line.points)
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>'


def _x(second: float, seconds: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * second / seconds


def _y(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most
