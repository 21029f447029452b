"""`python -m loadtests.queue_runs quota | overload | pickup | flood | speed | all [--out DIR] [--short]`, and `report`.

Each run starts an installation of its own on loopback, measures, checks the invariants, writes a folder below
loadtests/results and prints a closing table. `report` writes docs/measurements.md from the folders.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from loadtests import recording, reporting
from loadtests.recording import RESULTS, Clock, Found, say
from loadtests.runs import flood, overload, pickup, quota, speed

RUNS: dict[str, Callable[..., Found]] = {
    "quota": quota.measure,
    "overload": overload.measure,
    "pickup": pickup.measure,
    "flood": flood.measure,
    "speed": speed.measure,
}


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loadtests.queue_runs", description="Measures the queue from outside.")
    parser.add_argument("what", choices=[*RUNS, "all", "report"])
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--short", action="store_true", help="a few seconds of each, to see that it works")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: measured, whether or not the targets are reached; 1: an invariant is broken."""
    given = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if given.what == "report":
        say(f"written: {reporting.write(given.out).name}")
        return 0
    chosen = list(RUNS) if given.what == "all" else [given.what]
    return max([_run(what, given) for what in chosen])


def _run(what: str, given: argparse.Namespace) -> int:
    say(f"\n{what}: starting PostgreSQL, Valkey, provider, API and worker")
    clock = Clock()
    found = RUNS[what](short=given.short)
    place = recording.write(what, found, clock, given.out, short=given.short)
    say(f"\n{what} (load average {clock.load_before[0]} before)")
    recording.show(found.figures, found.notes)
    broken = found.reconcile.get("broken", {})
    say(f"  invariants: {found.reconcile.get('rules', 0)} rules checked, {len(broken)} broken {broken or ''}")
    say(f"  result: {place}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
