"""The four parts of a test, as its scenario file says them at its top. A scenario without all four is not run."""

import re
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
NAMES = ("Question", "Workload", "Shape", "Environment")
PART = re.compile(r"^// (Question|Workload|Shape|Environment): (.*)$")


class PartMissing(Exception):
    """A scenario file does not say what it asks, of which workload, in which shape or where."""


def four_parts(scenario: str) -> dict[str, str]:
    """The parts by their names. Raises PartMissing."""
    found: dict[str, str] = {}
    name = ""
    for line in (SCENARIOS / f"{scenario}.js").read_text().splitlines():
        if not line.startswith("//") or line.strip() == "//":
            break
        if match := PART.match(line):
            name = match[1]
            found[name] = match[2].strip()
        elif name:
            found[name] += " " + line.removeprefix("//").strip()
    if missing := [part for part in NAMES if not found.get(part)]:
        raise PartMissing(f"{scenario}.js does not open with: {', '.join(missing)}.")
    return found
