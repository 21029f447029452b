"""The arithmetic of a bench (pure): paces from looks, medians, ranges and ratios of passes taken in turns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtests.percentiles import median, ratio

# Before a tenth, or 500 jobs, are done, a worker still warms up: it connects and prepares.
WARM_PART, WARM_MOST = 0.1, 500

Look = tuple[float, int]


def pace(looks: Sequence[Look]) -> float:
    """Jobs a second between the first look that saw a warm worker and the last that saw a job left.

    Looks are (seconds, jobs left). Both ends are counts at a known moment, so that the time between two looks does not
    weigh on the result. nan where fewer than two such looks are.
    """
    if not looks:
        return math.nan
    most = max(left for _, left in looks)
    warm = most - min(most * WARM_PART, WARM_MOST)
    inside = [(moment, left) for moment, left in looks if 0 < left <= warm]
    if len(inside) < 2 or inside[0][1] == inside[-1][1]:
        return math.nan
    (begin, first), (end, last) = inside[0], inside[-1]
    return (first - last) / (end - begin)


@dataclass(frozen=True)
class Series:
    """One figure of one contestant: its passes in order."""

    passes: list[float]

    @property
    def median(self) -> float:
        return median(self.passes) if self.passes else math.nan

    def as_json(self) -> dict[str, Any]:
        kept = [round(value, 3) for value in self.passes]
        return {"median": round(self.median, 3), "least": min(kept), "most": max(kept), "passes": kept}


def ratio_of(series: Series, other: Series) -> float:
    """The median of the turns' ratios: what disturbs a turn disturbs both of its parts."""
    return median([ratio(one, two) for one, two in zip(series.passes, other.passes, strict=True)])


def table(results: Mapping[str, Series], ours: str) -> list[dict[str, Any]]:
    """A row for each contestant: median, range and how many times it goes into ours."""
    return [
        {"who": name, **series.as_json(), "ours is": round(ratio_of(results[ours], series), 3)}
        for name, series in results.items()
    ]
