"""docs/benchmarks.md from the kept results: each target with its verdict, then a section for each WHAT (pure)."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadtests.machine import ROOT
from loadtests.recording import shown, word

DOCUMENT = ROOT / "docs" / "benchmarks.md"
HEADINGS = {
    "work": "Work: no-op jobs a second",
    "pickup": "Pick-up by an idle worker",
    "admission": "Admission over HTTP",
    "growth": "Beside a million finished jobs",
    "churn": "Tables over steady work",
    "snapshot": "Under an open snapshot",
    "overload": "Ten times too much",
    "start": "From `make run` to ready",
    "idle": "A worker that waits",
}
INTRODUCTION = """# Benchmarks

Written by `python -m loadtests.bench` from `loadtests/results/bench`; nothing is typed by hand.
One machine holds everything: the contestants, PostgreSQL with its default durability, and the load. Contestants take
turns (A B A B), figures are medians of the passes with their ranges, ratios are medians of the turns' ratios. Read
ratios, not absolutes. What a peer leaves out stands under its table. A missed target is shown as missed.

`make bench` measures all of it anew (about an hour), `python -m loadtests.bench --short` in under ten minutes.
"""

Runs = Mapping[str, tuple[str, dict[str, Any]]]


def write(runs: Runs) -> Path:
    """The page shows these runs; returns its path."""
    DOCUMENT.write_text(page(runs))
    return DOCUMENT


def page(runs: Runs) -> str:
    parts = [INTRODUCTION, _verdicts(runs)]
    parts += [_section(what, *runs[what]) for what in HEADINGS if what in runs]
    return "\n".join(parts)


def _verdicts(runs: Runs) -> str:
    if not runs:
        return "No run is recorded yet.\n"
    lines = ["## Targets\n", "| figure | value | target | | arithmetic, and what limits it |", "|---|---|---|---|---|"]
    for what in HEADINGS:
        figures = runs[what][1]["figures"] if what in runs else []
        lines += [_row(figure) for figure in figures if figure["target"]]
    return "\n".join(lines) + "\n"


def _row(figure: Mapping[str, Any]) -> str:
    value = math.nan if figure["value"] is None else figure["value"]
    number = f"{shown(value)} {figure['unit']}".strip()
    return _cells([figure["name"], number, figure["target"] or "", word(figure["reached"]), figure["how"]])


def _section(what: str, folder: str, one: Mapping[str, Any]) -> str:
    machine, checked = one["machine"], one["reconcile"]
    dirty = ", with changes that were not committed" if machine["is_dirty"] else ""
    short = " **A short run: it shows that the bench works, not how fast things are.**" if one["short"] else ""
    held = f" `reconcile`: {checked['rules']} rules checked, {len(checked['broken'])} broken." if checked else ""
    tables = one["facts"].get("tables", {})
    lines = [
        f"## {HEADINGS[what]}\n",
        f"`{one['command']}`, {one['passes']} passes, {one['started_at']}, {one['seconds']:.0f} s; "
        f"{machine['cores']} cores, {machine['memory_gib']:g} GiB, {machine['system']}, Python {machine['python']}, "
        f"load average {one['load_average_before'][0]:g} before; commit {machine['commit']}{dirty}.{held}{short}\n",
        *(f"![{title}](../loadtests/results/bench/{folder}/{what}-{number}.svg)\n"
          for number, title in enumerate(_titles(what, tables), 1)),
        "| figure | value | target | | arithmetic, and what limits it |",
        "|---|---|---|---|---|",
        *(_row(figure) for figure in one["figures"]),
        "",
        *_tables(tables),
        *(f"- {note}" for note in one["notes"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _titles(what: str, tables: Mapping[str, Any]) -> list[str]:
    return [title for title, rows in tables.items() if rows and "median" in rows[0]] + ["Dead rows"] * (what == "churn")


def _tables(tables: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    lines: list[str] = []
    for title, rows in tables.items():
        names = [name for name in (rows[0] if rows else {}) if name != "passes"]
        lines += [f"{title}\n", _cells(names), _cells(["---"] * len(names))]
        lines += [_cells([_cell(row[name]) for name in names]) for row in rows]
        lines.append("")
    return lines


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return shown(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
