"""`python -m loadtests.paths [NUMBER…]`: runs the failure paths and keeps each as results/paths/path-N.json, sealed."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from loadtests import machine, sealing
from loadtests.paths import admitting, connections, crashing, provider
from loadtests.paths.record import Path as FailurePath
from loadtests.recording import RESULTS, say

PATHS: dict[int, FailurePath] = {
    1: admitting.same_upload_twice,
    2: crashing.crash_in_the_middle,
    3: admitting.full_queue,
    4: provider.quota_used_up,
    5: provider.outage,
    6: crashing.drain_and_kill,
    7: admitting.no_worker,
    8: connections.connections,
}


def run(number: int, folder: Path) -> bool:
    """The path's record lies in the folder; whether all of it held."""
    before, began = machine.reading(), time.monotonic()
    say(f"failure path {number}")
    shown = PATHS[number]()
    record = shown.as_json() | {
        "seconds": round(time.monotonic() - began, 1), "code": machine.fingerprint(),
        "machine": machine.describe(), "before": before, "after": machine.reading(),
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"path-{number}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    sealing.seal(folder)
    say(f"  {shown.title}")
    for name, value in shown.counts.items():
        say(f"    {name}: {value}")
    for sentence, holds in shown.holds.items():
        say(f"    {'holds ' if holds else 'BROKEN'} {sentence}")
    say(f"    invariants broken: {record['reconcile'].get('broken') or 'none'}")
    return shown.is_demonstrated


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all that ran held; 1: something did not."""
    parser = argparse.ArgumentParser(
        prog="loadtests.paths",
        description="The eight failure paths as recorded runs.",
        epilog="Example: python -m loadtests.paths 2 5",
    )
    parser.add_argument("numbers", nargs="*", type=int, choices=[*PATHS, []], help="which (default: all)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = [run(number, given.out / "paths") for number in given.numbers or PATHS]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
