"""`python -m loadtests.evidence` (`make evidence`): every run that the reports rest on, in order, resumable.

A part that is recorded for this code is skipped; an interrupted run goes on where it stopped. The reports come last.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from loadtests import alone, cost, defaults, fresh, machine, passes, report
from loadtests.paths import __main__ as paths
from loadtests.plan import COMPARISONS, SCENARIOS
from loadtests.recording import RESULTS, say
from loadtests.run import COMPARE, plans_of

MARK = "evidence.json"


@dataclass(frozen=True)
class Part:
    """One part: about how many minutes it takes on a quiet machine with two cores, and how it is run and recognised."""

    name: str
    minutes: float
    run: Callable[[], bool]
    is_recorded: Callable[[], bool]


def parts(folder: Path) -> list[Part]:
    """Everything, the quick parts first."""
    return [
        Part(
            "defaults",
            0.2,
            lambda: bool(defaults.record(folder / "defaults")),
            lambda: _is_of_this_code(folder, "defaults"),
        ),
        Part("alone", 3, lambda: _alone(folder), lambda: _is_of_this_code(folder, "alone")),
        *(_path(number, folder) for number in paths.PATHS),
        *(_passes(name, folder) for name in SCENARIOS),
        *(_passes(COMPARE + name, folder) for name in COMPARISONS),
        Part("cost", 0.1, lambda: _cost(folder), lambda: _is_of_this_code(folder, "cost")),
        Part("fresh", 15, lambda: _fresh(folder), lambda: _is_of_this_code(folder, "fresh")),
    ]


def _fresh(folder: Path) -> bool:
    """The pages are written before: the tests of the fresh copy compare them with the runs that it takes along."""
    if folder == RESULTS:
        report.main([])
    return fresh.main(["--out", str(folder)]) == 0


def _path(number: int, folder: Path) -> Part:
    return Part(
        f"path-{number}", 0.6, lambda: paths.run(number, folder / "paths"),
        lambda: _is_of_this_code(folder, "paths", f"path-{number}.json"),
    )  # fmt: skip


def _passes(name: str, folder: Path) -> Part:
    plans = plans_of(name)
    seconds = sum(plan.passes * (15 + _length(name)) for plan in plans)

    def is_recorded() -> bool:
        return all(
            passes.is_recorded(folder / name / plan.configuration / f"pass-{number}", plan)
            for plan in plans
            for number in range(1, plan.passes + 1)
        )

    return Part(
        name, round(seconds / 60, 1), lambda: passes.run(plans, folder / name, is_resuming=True) == 0, is_recorded
    )


def _length(name: str) -> float:
    """Seconds of arrivals and drain, as a pass takes them on a quiet machine."""
    return {"baseline": 65.0, "burst": 80.0, "overload": 55.0, "questions": 65.0, "flood": 50.0}.get(name, 22.0)


def _alone(folder: Path) -> bool:
    return not alone.measure(alone.DOCUMENTS, folder / "alone", is_short=False)["reconcile"]["broken"]


def _cost(folder: Path) -> bool:
    """New texts from the comparison of batches, edits and questions from the burst."""
    runs = {"new": folder / "compare-batch" / "batches" / "pass-1", "edited": folder / "burst" / "normal" / "pass-1"}
    return bool(cost.record(runs, folder / "cost"))


def _is_of_this_code(folder: Path, name: str, file: str = "summary.json") -> bool:
    path = folder / name / file
    if not path.exists():
        return False
    found = json.loads(path.read_text())
    # Of `alone` the steps are times, of the fresh run what was done.
    steps = found["steps"] if isinstance(found.get("steps"), list) else []
    has_held = found.get("is_demonstrated", True) and all(step["is_done"] for step in steps)
    return bool(has_held and found["code"] == machine.fingerprint() and not found.get("short"))


def main(arguments: Sequence[str] | None = None) -> int:
    """0: everything is recorded and the reports are written; 1: a part did not hold, and is named."""
    parser = argparse.ArgumentParser(
        prog="loadtests.evidence",
        description="Records all evidence for the present code, skips what is recorded, and writes the reports.",
        epilog="Examples: python -m loadtests.evidence --list; python -m loadtests.evidence --without fresh",
    )
    parser.add_argument("--list", action="store_true", help="show the parts, their durations and what is recorded")
    parser.add_argument("--without", action="append", default=[], metavar="PART", help="leave a part out")
    parser.add_argument("--only", action="append", default=[], metavar="PART", help="run these parts alone")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [
        one for one in parts(given.out) if one.name not in given.without and (not given.only or one.name in given.only)
    ]
    if given.list:
        for one in chosen:
            say(f"  {one.minutes:5.1f} min  {one.name:<32} {'recorded' if one.is_recorded() else 'to run'}")
        say(f"  {sum(one.minutes for one in chosen if not one.is_recorded()):5.1f} min to run")
        return 0
    (given.out / MARK).unlink(missing_ok=True)
    failed = _run(chosen)
    is_whole = not (given.without or given.only)
    if is_whole and not failed:
        mark = {"code": machine.fingerprint(), "finished_at": datetime.now(UTC).isoformat(timespec="seconds")}
        (given.out / MARK).write_text(json.dumps(mark, indent=1) + "\n")
    if given.out == RESULTS:
        failed += ["report"] * report.main(["--strict"] if is_whole else [])
    say(f"\nnot as it should be: {', '.join(failed)}" if failed else "\nall is recorded")
    return 1 if failed else 0


def _run(chosen: Sequence[Part]) -> list[str]:
    """The names of the parts that did not hold."""
    failed, began = [], time.monotonic()
    for number, one in enumerate(chosen, 1):
        left = sum(other.minutes for other in chosen[number - 1 :] if not other.is_recorded())
        minutes = (time.monotonic() - began) / 60
        say(f"\n[{number} of {len(chosen)}, {minutes:.0f} min, about {left:.0f} min left] {one.name}")
        if one.is_recorded():
            say("  is recorded for this code")
        elif not one.run():
            failed.append(one.name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
