"""Arithmetic over samples and rates that the measurements share (pure), and a command that applies it to a file."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

__all__ = ["median", "percentile", "points", "ratio", "share", "spread"]


def percentile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` (0 to 1) of the values do not exceed; nan of none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def share(count: float, total: float) -> float:
    """The part that `count` is of `total`; 0 of nothing."""
    return count / total if total else 0.0


def ratio(value: float, other: float) -> float:
    """How many times `other` fits into `value`; nan where there is no other."""
    return value / other if other else math.nan


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, p95 and the largest, rounded for reading."""
    if not values:
        return {"count": 0}
    found = {"median": median(values), "p95": percentile(values, 0.95), "most": max(values)}
    return {"count": len(values), **{name: round(value, 4) for name, value in found.items()}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints count, p50, p95, p99 and the largest of one key of a file of JSON lines."""
    parser = argparse.ArgumentParser(
        prog="loadtests.percentiles",
        description="Percentiles of one key of a file of JSON lines; lines without a number there are left out.",
        epilog="Example: python -m loadtests.percentiles "
        "loadtests/results/burst/normal/pass-1/jobs.jsonl result_seconds",
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("key")
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for line in given.file.read_text().splitlines()]
    values = [row[given.key] for row in rows if isinstance(row.get(given.key), int | float)]
    sys.stdout.write(json.dumps({"count": len(values), **points(values)}) + "\n")
    return 0


def points(values: Sequence[float]) -> dict[str, float | None]:
    """p50, p95, p99 and the largest, None of nothing."""
    if not values:
        return {"p50": None, "p95": None, "p99": None, "most": None}
    found = {f"p{part}": percentile(values, part / 100) for part in (50, 95, 99)}
    return {name: round(value, 4) for name, value in {**found, "most": max(values)}.items()}


if __name__ == "__main__":
    sys.exit(main())
