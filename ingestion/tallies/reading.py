"""The counters and histograms as they were last counted."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

from ingestion.models import Tally
from ingestion.tallies import bounds

# By the name of a histogram: its buckets' upper ends.
HISTOGRAMS = {"wait": bounds.JOBS, "turnaround": bounds.JOBS, "estimate_error": bounds.JOBS, "call": bounds.CALLS}


@dataclass(frozen=True)
class Histogram:
    """One label's numbers: for each upper end (the last is +Inf) how many lay at or below it, and the sum of all."""

    buckets: list[tuple[str, float]]
    sum: float


def read_counters() -> dict[str, dict[tuple[str, str], float]]:
    """By name: the total of each (label, part)."""
    found: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in Tally.objects.exclude(name__in=HISTOGRAMS).order_by("name", "label", "part"):
        found[row.name][row.label, row.part] = row.total
    return found


def read_histograms() -> dict[str, dict[str, Histogram]]:
    """By name: the histogram of each label."""
    parts: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in Tally.objects.filter(name__in=HISTOGRAMS).order_by("name", "label"):
        parts[row.name, row.label][row.part] = row.total
    found: dict[str, dict[str, Histogram]] = {name: {} for name in HISTOGRAMS}
    for (name, label), numbers in parts.items():
        found[name][label] = _histogram(HISTOGRAMS[name], numbers)
    return found


def _histogram(ends: tuple[float, ...], numbers: dict[str, float]) -> Histogram:
    """`width_bucket` gives 0 below the first end and n from the n-th on: a value at an end counts above it."""
    each = [numbers.get(f"bucket {place}", 0.0) for place in range(len(ends) + 1)]
    names = [*(f"{end:g}" for end in ends), "+Inf"]
    return Histogram(list(zip(names, accumulate(each), strict=True)), numbers.get("sum", 0.0))
