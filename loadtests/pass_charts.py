"""The charts of one pass from its raw rows: depth, oldest age, waits, states over time."""

from collections.abc import Sequence
from typing import Any

from loadtests.charts import Line, chart

Row = dict[str, Any]


def drawn(seconds: Sequence[Row], depths: Sequence[tuple[float, int]], jobs: Sequence[Row]) -> dict[str, str]:
    """Each chart's SVG by its file name."""
    charts = {
        "depth.svg": chart("Depth: accepted and unfinished", "jobs", [Line("depth", _steps(depths))]),
        "oldest-age.svg": chart("Age of the oldest job", "s", [_of("oldest age", seconds, "oldest_age_seconds")]),
        "states.svg": chart(
            "Jobs by state", "jobs", [_of(name, seconds, name) for name in ("queued", "ready", "running")]
        ),
    }
    if jobs:
        charts["waits.svg"] = chart("Submit to start and to result, by time of submit", "s", _waits(jobs))
    return charts


def _of(name: str, seconds: Sequence[Row], key: str) -> Line:
    return Line(name, [(row["second"], row[key] or 0) for row in seconds if key in row])


def _steps(depths: Sequence[tuple[float, int]]) -> list[tuple[float, float]]:
    """A curve that keeps each value until the next one is seen."""
    found: list[tuple[float, float]] = []
    for second, depth in depths:
        if found:
            found.append((second, found[-1][1]))
        found.append((second, depth))
    return found


def _waits(jobs: Sequence[Row]) -> list[Line]:
    first = jobs[0]["queued_at"]
    return [
        Line(name, [(job["queued_at"] - first, job[key]) for job in jobs if job[key] is not None])
        for name, key in (("to start", "start_seconds"), ("to result", "result_seconds"))
    ]
