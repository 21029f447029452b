"""`python -m loadtests.bench [WHAT …] [--short] [--passes 5]`: this product, its peers and the bare database, in turns.

Starts everything it needs on loopback, in folders of its own, and ends it. Writes a folder below
loadtests/results/bench and docs/benchmarks.md. Exit 1 when an invariant is broken; a missed target is
shown and is no failure.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from loadtests import recording
from loadtests.bench import page, results
from loadtests.bench.measures import admission, churn, growth, idle, overload, pickup, snapshot, start, work
from loadtests.recording import Clock, Found, say

MEASURES: dict[str, Callable[..., Found]] = {
    "work": work.measure,
    "pickup": pickup.measure,
    "admission": admission.measure,
    "growth": growth.measure,
    "churn": churn.measure,
    "snapshot": snapshot.measure,
    "overload": overload.measure,
    "start": start.measure,
    "idle": idle.measure,
}
PASSES, SHORT_PASSES = 5, 1


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loadtests.bench", description="Measures the product beside its peers.")
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"{', '.join(MEASURES)} (all), or page")
    parser.add_argument("--short", action="store_true", help="all of it in under ten minutes, to see that it works")
    parser.add_argument("--passes", type=int, help=f"turns of each contestant ({PASSES}; short: {SHORT_PASSES})")
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="folder of the results")
    given = parser.parse_args(arguments)
    unknown = [what for what in given.what if what not in MEASURES and what != "page"]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(MEASURES)}, page")
    if given.passes is not None and given.passes < 1:
        parser.error("--passes must be at least 1")
    given.passes = given.passes or (SHORT_PASSES if given.short else PASSES)
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    place = given.out / datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    chosen = [what for what in (given.what or MEASURES) if what != "page"]
    codes = [_run(what, given, place) for what in chosen]
    if given.out == results.FOLDER:
        say(f"\nwritten: docs/{page.write(results.newest()).name}")
    return max(codes, default=0)


def _run(what: str, given: argparse.Namespace, place: Path) -> int:
    say(f"\n{what}: {given.passes} passes{', short' if given.short else ''}")
    clock = Clock()
    found = MEASURES[what](passes=given.passes, short=given.short)
    command = f"python -m loadtests.bench {what}{' --short' if given.short else ''} --passes {given.passes}"
    results.write(what, found, clock, place, command, short=given.short, passes=given.passes)
    say(f"\n{what}, {clock.describe()['seconds']:.0f} s (load average {clock.load_before[0]} before)")
    recording.show(found.figures, [])
    broken = found.reconcile.get("broken", {})
    if found.reconcile:
        say(f"  invariants: {found.reconcile['rules']} rules checked, {len(broken)} broken {broken or ''}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
