"""What a bench keeps: a folder for each run, in it for each WHAT its summary, raw rows and charts."""

import json
import math
from pathlib import Path
from typing import Any

from loadtests import charts, recording
from loadtests.bench.bars import Bar, bars
from loadtests.bench.measures import churn
from loadtests.recording import RESULTS, Clock, Found

FOLDER = RESULTS / "bench"


def write(what: str, found: Found, clock: Clock, place: Path, command: str, *, short: bool, passes: int) -> None:
    """The WHAT's files are in the run's folder."""
    place.mkdir(parents=True, exist_ok=True)
    summary = recording.summary(what, found, clock, short=short) | {"command": command, "passes": passes}
    (place / f"{what}.json").write_text(json.dumps(_clean(summary), indent=1, ensure_ascii=False) + "\n")
    for name, rows in found.rows.items():
        lines = [json.dumps(_clean(row), ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
        (place / f"{name}.jsonl").write_text("".join(lines))
    for number, svg in enumerate(drawn(what, found), 1):
        (place / f"{what}-{number}.svg").write_text(svg)


def drawn(what: str, found: Found) -> list[str]:
    """A bar chart for each table that has medians, and the curves of the long run."""
    tables = found.facts.get("tables", {})
    pictures = [bars(title, _bars(rows)) for title, rows in tables.items() if rows and "median" in rows[0]]
    if what == "churn":
        pictures.append(charts.chart("Dead rows", "rows", churn.lines(found.rows["churn"])))
    return pictures


def _bars(rows: list[dict[str, Any]]) -> list[Bar]:
    found = []
    for row in rows:
        words = [str(value) for name, value in row.items() if name not in NUMBERS]
        name = ", ".join(words)
        if not math.isnan(row["median"]):
            found.append(Bar(name[:38], row["median"], row["least"], row["most"], is_ours=_is_ours(name)))
    return found


NUMBERS = ("median", "least", "most", "passes", "ours is", "accepted to claimed")


def _is_ours(name: str) -> bool:
    return not name.startswith(("DRF", "bare")) and not any(
        peer in name for peer in ("procrastinate", "django-tasks", "celery", "dramatiq", "pgqueuer", "awa")
    )


def _clean(value: Any) -> Any:
    """JSON has no number that is none."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {name: _clean(one) for name, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list) else value


def newest(folder: Path = FOLDER) -> dict[str, tuple[str, dict[str, Any]]]:
    """For each WHAT its newest run, as folder and summary; a short run only where there is no full one."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for path in sorted(folder.glob("*/*.json")):
        one = json.loads(path.read_text())
        known = found.get(one["what"])
        if known is None or known[1]["short"] or not one["short"]:
            found[one["what"]] = (path.parent.name, one)
    return found
