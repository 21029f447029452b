"""What a measurement found, as a folder: summary.json, raw lines beside it, and the table that closes the run."""

import json
import math
import operator
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadtests import machine, sealing

RESULTS = Path(__file__).resolve().parent / "results"
OPERATORS = {"<": operator.lt, "≤": operator.le, "≥": operator.ge, "=": operator.eq}


@dataclass(frozen=True)
class Figure:
    """One number. `target` is None, or a sign and a bound, such as `≤ 1.05`; `how` is its arithmetic in words."""

    name: str
    value: float
    unit: str = ""
    target: str | None = None
    how: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is none. No number reaches no target."""
        if self.target is None:
            return None
        sign, bound = self.target.split()
        return not math.isnan(self.value) and bool(OPERATORS[sign](self.value, float(bound)))

    def as_json(self) -> dict[str, Any]:
        value = None if math.isnan(self.value) else round(self.value, 4)
        return {
            "name": self.name, "value": value, "unit": self.unit, "target": self.target,
            "reached": self.reached, "how": self.how,
        }  # fmt: skip


@dataclass
class Found:
    """What a run hands over: figures, facts beside them, sentences that explain, and raw rows by file name."""

    figures: list[Figure] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    reconcile: dict[str, Any] = field(default_factory=dict)

    def merge(self, other: "Found") -> None:
        """Everything of another run of the same kind is in this one too."""
        self.figures += other.figures
        self.facts |= other.facts
        self.notes += other.notes
        self.rows |= other.rows


class Clock:
    """When a run began, and under which load."""

    def __init__(self) -> None:
        self.started_at = datetime.now(UTC)
        self.load_before = machine.load_average()
        self._began = time.monotonic()

    def describe(self) -> dict[str, Any]:
        return {
            "started_at": self.started_at.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._began, 1),
            "load_average_before": self.load_before,
            "load_average_after": machine.load_average(),
        }


def put_between(page: Path, edges: tuple[str, str], text: str) -> None:
    """The page has this text between its two marks, and nothing else there."""
    before, _, rest = page.read_text().partition(edges[0])
    after = rest.partition(edges[1])[2]
    page.write_text(f"{before}{edges[0]}\n{text}\n{edges[1]}{after}")


def write(what: str, found: Found, clock: Clock, folder: Path, *, short: bool, command: str = "") -> Path:
    """The run's folder is written; returns it. `command`: how it is run, where that is not `queue_runs WHAT`."""
    place = folder / what / clock.started_at.strftime("%Y-%m-%d-%H%M%S")
    place.mkdir(parents=True, exist_ok=True)
    for name, rows in found.rows.items():
        (place / f"{name}.jsonl").write_text("".join(_line(row) for row in rows))
    (place / "summary.json").write_text(
        json.dumps(summary(what, found, clock, short=short, command=command), indent=1, ensure_ascii=False) + "\n"
    )
    sealing.seal(place)
    return place


def summary(what: str, found: Found, clock: Clock, *, short: bool, command: str = "") -> dict[str, Any]:
    return {
        "what": what, "short": short,
        "command": command or f"python -m loadtests.queue_runs {what}{' --short' if short else ''}",
        **clock.describe(), "machine": machine.describe(), "settings": found.settings,
        "figures": [figure.as_json() for figure in found.figures], "facts": found.facts, "notes": found.notes,
        "reconcile": found.reconcile,
    }  # fmt: skip


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def say(line: str = "") -> None:
    """A line for a person, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def shown(value: float) -> str:
    """A number as a person reads it."""
    if math.isnan(value):
        return "–"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def word(reached: bool | None) -> str:
    return {True: "reached", False: "MISSED", None: ""}[reached]


def show(figures: Iterable[Figure], notes: Iterable[str]) -> None:
    """The closing table."""
    for figure in figures:
        number = f"{shown(figure.value)} {figure.unit}".strip()
        say(f"  {number:>16}  {figure.name:<72} {figure.target or '':<8} {word(figure.reached)}")
    for note in notes:
        say(f"  {note}")
