"""The workload that the tests are made from: `workload.json`, each number with its letter and its reason."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent / "workload.json"


@cache
def assumptions() -> tuple[dict[str, Any], ...]:
    """Every assumption in the order of its letters."""
    return tuple(json.loads(FILE.read_text())["assumptions"])


def value(name: str) -> int:
    """The number of the assumption. KeyError where there is none."""
    found = {one["name"]: one["value"] for one in assumptions()}[name]
    if found is None:
        raise KeyError(f"{name} has no number of its own")
    return int(found)


def by_letter() -> dict[str, dict[str, Any]]:
    """The assumptions by their letters."""
    return {one["letter"]: one for one in assumptions()}


def planned_burst_per_minute() -> int:
    """Uploads a minute that are planned for: the busiest minute times the multiple."""
    return value("policy_uploads_per_minute") * value("multiple")
