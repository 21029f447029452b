"""docs/measurements.md from the results' summaries, so that no number is typed by hand."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from loadtests.faults_record import parts
from loadtests.recording import shown, word

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "measurements.md"
HEADINGS = {
    "quota": "The quota in a burst",
    "overload": "Ten times too much",
    "pickup": "Picking up a job",
    "flood": "The flood, live",
    "speed": "Speed of admission",
}
INTRODUCTION = """# Measurements

Written by `python -m loadtests.queue_runs report` from the summaries in `loadtests/results`; nothing is typed by hand.
Each run starts an installation of its own on loopback: the product with its defaults and the settings named, an
embedded PostgreSQL and Valkey, the simulated provider, API and workers. Client and server share one small machine:
read ratios, not absolutes. A missed target is shown as missed. Every run ends with `manage.py reconcile`.
"""

Summary = dict[str, Any]


def write(results: Path) -> Path:
    """The page shows the newest full run of each kind; returns its path."""
    DOCUMENT.write_text(page(newest(results)) + "".join(_faults(path) for path in fault_records(results)))
    return DOCUMENT


def fault_records(results: Path) -> list[Path]:
    """The records of all kept fault runs, the newest first: what one has found stays in sight."""
    records = (results / "faults").glob("*.json")
    return sorted(records, key=lambda path: str(json.loads(path.read_text())["started_at"]), reverse=True)


def newest(results: Path) -> list[tuple[str, Summary]]:
    """(folder, summary) of the newest run of each kind that was not a short one."""
    found = []
    for what in HEADINGS:
        folders = sorted((results / what).glob("*/summary.json"), reverse=True)
        read = ((path, json.loads(path.read_text())) for path in folders)
        found += [(f"loadtests/results/{what}/{path.parent.name}", one) for path, one in read if not one["short"]][:1]
    return found


def page(runs: Iterable[tuple[str, Summary]]) -> str:
    return "\n".join([INTRODUCTION, *(_section(folder, one) for folder, one in runs)])


def _faults(path: Path) -> str:
    """The fault run's counts, as its record has them."""
    record = json.loads(path.read_text())
    place = f"loadtests/results/faults/{path.name}"
    lines = [
        f"\n## Under faults, {record['minutes']:g} minutes\n",
        f"`python -m loadtests.faults --seed {record['seed']} --minutes {record['minutes']:g}` → "
        f"[`{place}`](../{place}). "
        f"{record['started_at']} to {record['finished_at']}; {record['workers']} workers, "
        f"{record['uploads_per_second']:g} uploads a second. The faults are constructed. "
        f"Violations: {len(record['violations'])}.\n",
        "| what | count |",
        "|---|---|",
    ]
    for heading, rows in parts(record):
        lines.append(_cells([f"**{heading}**", ""]))
        lines += [_cells([str(name), str(value)]) for name, value in rows]
    return "\n".join([*lines, *(f"- {sentence}" for sentence in record["violations"])]) + "\n"


def _section(folder: str, one: Summary) -> str:
    machine, reconcile = one["machine"], one["reconcile"]
    dirty = ", with changes that were not committed" if machine["is_dirty"] else ""
    lines = [
        f"## {HEADINGS[one['what']]}\n",
        f"`{one['command']}` → [`{folder}`](../{folder}). {one['started_at']}, {one['seconds']:.0f} s; "
        f"{machine['cores']} cores, {machine['memory_gib']:g} GiB, load average {one['load_average_before'][0]:g} "
        f"before and {one['load_average_after'][0]:g} after; commit {machine['commit']}{dirty}.\n",
        f"Settings: {_settings(one['settings'])}. "
        f"Invariants: {reconcile['rules']} rules checked, {len(reconcile['broken'])} broken.\n",
        "| figure | value | target | | arithmetic |",
        "|---|---|---|---|---|",
        *(_row(figure) for figure in one["figures"]),
        "",
        *(f"- {note}" for note in one["notes"]),
        "",
        *_tables(one["facts"].get("tables", {})),
    ]
    return "\n".join(lines)


def _settings(settings: dict[str, str]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in settings.items()) or "the defaults"


def _row(figure: dict[str, Any]) -> str:
    value = "–" if figure["value"] is None else shown(figure["value"])
    cells = [
        figure["name"],
        f"{value} {figure['unit']}".strip(),
        figure["target"] or "",
        word(figure["reached"]),
        figure["how"],
    ]
    return _cells(cells)


def _tables(tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Small tables that a run hands over, each under its own line."""
    lines = []
    for title, rows in tables.items():
        names: Sequence[str] = list(rows[0]) if rows else []
        lines += [f"{title}\n", _cells(names), _cells(["---"] * len(names))]
        lines += [_cells([_cell(row[name]) for name in names]) for row in rows]
        lines.append("")
    return lines


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(value: Any) -> str:
    return shown(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
