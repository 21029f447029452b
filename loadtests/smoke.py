"""`python -m loadtests.smoke` (`make evidence-smoke`): every kind of run once, as small as it can be, and the reports.

It shows that the evidence can be recorded; its numbers are kept nowhere.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from loadtests import alone, compare, cost, defaults, report, run, sealing
from loadtests.paths import __main__ as paths
from loadtests.recording import say


def steps(folder: Path) -> dict[str, Callable[[], bool]]:
    """Each step by its name; whether it held."""
    batch = folder / "compare-batch"
    runs = {"new": batch / "batches" / "pass-1", "edited": folder / "burst" / "normal" / "pass-1"}
    return {
        "defaults": lambda: bool(defaults.record(folder / "defaults")["settings"]),
        "a burst": lambda: run.main(["burst", "--short", "--out", str(folder)]) == 0,
        "a flood": lambda: run.main(["flood", "--short", "--out", str(folder)]) == 0,
        "a comparison": lambda: run.main(["compare-batch", "--short", "--out", str(folder)]) == 0,
        "its columns": lambda: compare.main([str(batch / "one-chunk-a-call"), str(batch / "batches")]) == 0,
        "jobs alone": lambda: alone.main(["--short", "--out", str(folder)]) == 0,
        "a failure path": lambda: paths.main(["1", "--out", str(folder)]) == 0,
        "the cost": lambda: bool(cost.record(runs, folder / "cost")["policy_day_edits"]),
        "the seals": lambda: not any(sealing.broken(one) for one in sealing.sealed_folders(folder)),
        "the reports": lambda: report.main(["--results", str(folder), "--out", str(folder / "pages")]) == 0,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every step held; 1: one did not, and it is named."""
    parser = argparse.ArgumentParser(
        prog="loadtests.smoke",
        description="Every kind of evidence once, small, in a folder that is gone afterwards.",
        epilog="Example: python -m loadtests.smoke",
    )
    parser.parse_args(arguments)
    began, failed = time.monotonic(), []
    with TemporaryDirectory(prefix="larkfield-smoke-") as folder:
        for name, held in steps(Path(folder)).items():
            say(f"\n{name} ({time.monotonic() - began:.0f} s)")
            if not held():
                failed.append(name)
    say(f"\n{time.monotonic() - began:.0f} s; {'did not hold: ' + ', '.join(failed) if failed else 'every step held'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
