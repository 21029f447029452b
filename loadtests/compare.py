"""`python -m loadtests.compare A B`: two configurations column by column, medians and ranges, and what they show.

A difference is shown only where the ranges of all passes do not overlap.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadtests.columns import Column
from loadtests.passes import Range, ranges, read
from loadtests.recording import say

NOT_SHOWN = "no difference shown"
# Readings of the machine are shown beside the columns; they are no outcome of a configuration.
READINGS = ("load_before", "load_after", "cpu_percent")


@dataclass(frozen=True)
class Difference:
    """One column of both configurations; `verdict` is what the passes show of it."""

    column: Column
    first: Range
    second: Range

    @property
    def is_shown(self) -> bool:
        apart = self.first.most < self.second.least or self.second.most < self.first.least
        return apart and self.column.name not in READINGS

    @property
    def verdict(self) -> str:
        if self.first.values == self.second.values and len(set(self.first.values)) == 1:
            return "the same in all passes"
        if not self.is_shown:
            return NOT_SHOWN
        word = "higher" if self.second.middle > self.first.middle else "lower"
        return f"{word}: {self.change}"

    @property
    def change(self) -> str:
        """The second median over the first."""
        if not self.first.middle:
            return f"{self.column.shown(self.second.middle)} against {self.column.shown(self.first.middle)}"
        return f"{self.second.middle / self.first.middle:.2f} times"


def differences(first: Path, second: Path) -> list[Difference]:
    """Every column that all passes of both have. ValueError where a configuration has no pass."""
    found = []
    for folder in (first, second):
        summaries = read(folder)
        if not summaries:
            raise ValueError(f"{folder} has no pass")
        found.append(ranges(summaries))
    one, other = found
    return [Difference(one[name].column, one[name], other[name]) for name in one if name in other]


def table(found: Sequence[Difference], names: tuple[str, str]) -> list[str]:
    """Markdown: a row a column."""
    lines = [f"| column | {names[0]} | {names[1]} | shown |", "|---|---|---|---|"]
    for one in found:
        unit = f", {one.column.unit}" if one.column.unit else ""
        lines.append(f"| {one.column.words}{unit} | {one.first.shown} | {one.second.shown} | {one.verdict} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """0: printed; 2: a folder holds no passes."""
    parser = argparse.ArgumentParser(
        prog="loadtests.compare",
        description="Medians and ranges of two configurations; a difference is shown where the ranges do not overlap.",
        epilog="Example: python -m loadtests.compare "
        "loadtests/results/compare-batch/one-chunk-a-call loadtests/results/compare-batch/batches",
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    given = parser.parse_args(arguments)
    try:
        found = differences(given.first, given.second)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for line in table(found, (given.first.name, given.second.name)):
        say(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
