"""Arithmetic over samples and rates that the measurements share (pure)."""

import math
from collections.abc import Sequence
from statistics import median

__all__ = ["median", "percentile", "ratio", "share", "spread"]


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
