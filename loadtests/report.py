"""`python -m loadtests.report`: REPORT.md, docs/capacity-report.md, docs/workload.md and docs/scorecards.md.

The words are in loadtests/templates and written by hand. Every number comes from a recorded run, from the workload's
assumptions or from arithmetic over both; what was not recorded says so, and `--strict` then fails.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from jinja2.runtime import Undefined

from loadtests import sources
from loadtests.faults_product import ROOT
from loadtests.passes import Range
from loadtests.recording import RESULTS, say

TEMPLATES = Path(__file__).resolve().parent / "templates"
PAGES = {
    "report.md": "REPORT.md",
    "workload.md": "docs/workload.md",
    "capacity-report.md": "docs/capacity-report.md",
    "scorecards.md": "docs/scorecards.md",
}
ABSENT = "(not recorded)"


class Absent(Undefined):
    """A number that no recorded run has: it shows as such, whatever is asked of it, and is counted."""

    seen: list[str] = []

    def _told(self) -> str:
        Absent.seen.append(str(self._undefined_name))
        return ABSENT

    def __str__(self) -> str:
        return self._told()

    def __html__(self) -> str:
        return self._told()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name=f"{self._undefined_name}.{name}")

    def __getitem__(self, name: Any) -> "Absent":  # type: ignore[override]  # the parent only raises
        return Absent(name=f"{self._undefined_name}.{name}")

    def _of_nothing(self, *_: object) -> "Absent":
        return self

    # The parent raises for each of these.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _of_nothing  # type: ignore[assignment]
    __truediv__ = __rtruediv__ = __call__ = _of_nothing  # type: ignore[assignment]


def number(value: Any, decimals: int = 0) -> str:
    """The number with thousands apart, and no more decimals than are worth reading."""
    if isinstance(value, Undefined):
        return str(value)
    return "–" if value is None else f"{float(value):,.{decimals}f}"


def spread(value: Any) -> str:
    """`median (least – most)` with its unit."""
    if not isinstance(value, Range):
        return str(value)
    return f"{value.shown} {value.column.unit}".strip()


def words(value: Any) -> str:
    """A recorded value as text: a list by commas, counts by name."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {words(one)}" for name, one in value.items())
    return ", ".join(words(one) for one in value) if isinstance(value, list) else str(value)


def settings(value: Any) -> str:
    """Variables as they would be set."""
    if isinstance(value, Undefined):
        return str(value)
    return ", ".join(f"`{name}={one}`" for name, one in value.items()) or "the defaults"


def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=Absent, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False,  # noqa: S701  # Markdown for files, never HTML for a browser
    )  # fmt: skip
    made.filters |= {"n": number, "spread": spread, "words": words, "settings": settings}
    return made


def rendered(results: Path) -> tuple[dict[str, str], list[str]]:
    """Each page by its path, and the names of the numbers that are not recorded."""
    Absent.seen = []
    found, made = sources.gathered(results), environment()
    pages = {page: made.get_template(name).render(found) for name, page in PAGES.items()}
    return pages, sorted(set(Absent.seen))


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 1: with --strict, a number is not recorded."""
    parser = argparse.ArgumentParser(
        prog="loadtests.report",
        description="Writes REPORT.md, docs/capacity-report.md, docs/workload.md and docs/scorecards.md.",
        epilog="Example: python -m loadtests.report --strict",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the recorded runs")
    parser.add_argument("--out", type=Path, default=ROOT, help="where the pages lie")
    parser.add_argument("--strict", action="store_true", help="fail where a number is not recorded")
    given = parser.parse_args(arguments)
    pages, missing = rendered(given.results)
    for name, text in pages.items():
        (given.out / name).parent.mkdir(parents=True, exist_ok=True)
        (given.out / name).write_text(text)
        say(f"written: {name}")
    for name in missing:
        say(f"  not recorded: {name}")
    return 1 if given.strict and missing else 0


if __name__ == "__main__":
    sys.exit(main())
