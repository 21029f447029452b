"""The passes of configurations: run in turns, skipped where recorded for this code, read back for a scorecard."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from loadtests import machine
from loadtests.columns import COLUMNS, Column
from loadtests.one_pass import SUMMARY, take
from loadtests.plan import Plan
from loadtests.recording import say

Summary = dict[str, Any]
TOLD = (
    "accepted",
    "queue_full",
    "lost",
    "answer_p95_ms",
    "result_p50_s",
    "result_p95_s",
    "peak_depth",
    "question_p95_s",
)


@dataclass(frozen=True)
class Range:
    """The median of a figure over the passes, and the range that they span."""

    column: Column
    middle: float
    least: float
    most: float
    values: tuple[float, ...]

    @property
    def shown(self) -> str:
        """`median (least – most)`, or the one value that all passes have."""
        middle = self.column.shown(self.middle)
        if self.least == self.most:
            return middle
        return f"{middle} ({self.column.shown(self.least)} – {self.column.shown(self.most)})"


def run(plans: Sequence[Plan], folder: Path, *, is_short: bool = False, is_resuming: bool = False) -> int:
    """Every pass of every plan, in turns, below `folder`/CONFIGURATION/pass-N; returns how many broke an invariant."""
    broken = 0
    for number, plan in _turns(plans):
        place = folder / plan.configuration / f"pass-{number}"
        if is_resuming and is_recorded(place, plan):
            say(f"  {folder.name} {plan.configuration} pass {number}: is recorded for this code")
            continue
        say(f"  {folder.name} {plan.configuration} pass {number} of {plan.passes}")
        summary = take(plan, place, number, is_short=is_short)
        _tell(summary)
        broken += bool(summary["figures"]["broken_rules"])
    return broken


def _turns(plans: Sequence[Plan]) -> Iterator[tuple[int, Plan]]:
    """Pass by pass, each configuration once: what changes on the machine meanwhile meets all alike."""
    for number in range(1, max(plan.passes for plan in plans) + 1):
        yield from ((number, plan) for plan in plans if number <= plan.passes)


def is_recorded(place: Path, plan: Plan) -> bool:
    """Whether this pass is there in full, run by this code under these settings."""
    path = place / SUMMARY
    if not path.exists():
        return False
    found = json.loads(path.read_text())
    asked = (machine.fingerprint(), dict(plan.settings), list(plan.provider), plan.workers, dict(plan.variables))
    ran = tuple(found[name] for name in ("code", "settings", "provider", "workers", "variables"))
    return ran == asked and not found["short"]


def read(folder: Path) -> list[Summary]:
    """The summaries of a configuration's passes, in their order."""
    found = [json.loads(path.read_text()) for path in folder.glob(f"pass-*/{SUMMARY}")]
    return sorted(found, key=lambda one: int(one["pass"]))


def ranges(summaries: Sequence[Summary]) -> dict[str, Range]:
    """Each column that all passes have a number for."""
    found = {}
    for column in COLUMNS:
        values = [one["figures"].get(column.name) for one in summaries]
        known = tuple(float(value) for value in values if value is not None)
        if known and len(known) == len(values):
            found[column.name] = Range(column, median(known), min(known), max(known), known)
    return found


def _tell(summary: Summary) -> None:
    figures, shown = summary["figures"], {column.name: column for column in COLUMNS}
    words = [
        f"{shown[name].words} {shown[name].shown(figures[name])} {shown[name].unit}".strip()
        for name in TOLD
        if figures.get(name) is not None
    ]
    say(f"    {summary['seconds']:.0f} s: {'; '.join(words)}")
    broken = summary["facts"]["reconcile"]["broken"]
    say(f"    invariants: {summary['facts']['reconcile']['rules']} rules checked, {len(broken)} broken {broken or ''}")
