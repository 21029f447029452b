"""`python -m loadtests.faults --seed N --minutes M [--out DIR]`: steady uploads while everything goes wrong.

Starts a stage of its own on loopback, mixes faults drawn from the seed, lets them cease, waits until the queue is
empty, and then accounts for every 202. Exit code 0: nothing was lost, done twice or left unexplained.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from larkfield.launch.errors import ChildDied
from loadtests import faults_accounts, faults_calls, faults_record
from loadtests.faults_kinds import Faults
from loadtests.faults_product import Stage, StageFailed
from loadtests.faults_record import Record, say
from loadtests.faults_uploads import Offer, Uploads, Writer

TICK_SECONDS = 0.1
SAY_EVERY_SECONDS = 5.0
# The longest that recovery may take once all faults have ceased: leases, waits and the breaker are seconds long.
SETTLE_SECONDS = 240.0
UNFINISHED = "SELECT count(*) FROM ingestion_job WHERE state IN ('queued', 'running')"


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loadtests.faults", description="A run of faults under steady uploads.")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and the uploads (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=2.0, help="how long faults go on (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("var/faults"), help="folder for the record")
    parser.add_argument("--workers", type=int, default=3, help="worker processes (default: %(default)s)")
    parser.add_argument("--uploads-per-second", type=float, default=3.0, help="default: %(default)s")
    parser.add_argument("--keep", action="store_true", help="keep the run's folder with its logs")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """The run's exit code; its record is written and its table shown."""
    given = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="larkfield-faults-"))
    stage = Stage(folder, given.seed, given.workers)
    is_well = False
    try:
        record = run(stage, given)
        path = faults_record.write(record, given.out)
        faults_record.show(record)
        say(f"record: {path}")
        is_well = not record["violations"]
    except (StageFailed, ChildDied) as error:
        say(f"the run could not be made: {error}")
    finally:
        stage.stop()
        if is_well and not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"logs and data: {folder}")
    return 0 if is_well else 1


def run(stage: Stage, given: argparse.Namespace) -> Record:
    """The whole run, from the first process to the record."""
    say("starting PostgreSQL, Valkey, provider, API and workers")
    stage.start()
    started_at = datetime.now(UTC)
    token = stage.manage("createcaller", "faults", "--can", "upload,operate", "--uploads-per-minute", "100000").strip()
    uploads = Uploads(stage.api_url, token, Writer(given.seed), given.uploads_per_second)
    faults = Faults(stage, given.seed)
    uploads.start()
    progress = Progress(stage, uploads, faults)
    try:
        _go_on(faults.tick, progress, until=time.monotonic() + 60 * given.minutes)
        say("faults cease")
        faults.cease()
        is_settled = _settle(stage, uploads, faults, progress)
    finally:
        uploads.abandon()
    return _record(stage, given, started_at, uploads.offers, faults, is_settled)


class Progress:
    """One line now and then: how far the run is."""

    def __init__(self, stage: Stage, uploads: Uploads, faults: Faults) -> None:
        self._stage, self._uploads, self._faults = stage, uploads, faults
        self._began = time.monotonic()
        self._said_at = float("-inf")
        self.unfinished: int | None = None

    def look(self) -> None:
        if time.monotonic() - self._said_at < SAY_EVERY_SECONDS:
            return
        self._said_at = time.monotonic()
        self.unfinished = int(self._stage.rows(UNFINISHED)[0][0])
        say(
            f"{time.monotonic() - self._began:6.0f} s  {len(self._uploads.offers)} offered, "
            f"{self._uploads.accepted} accepted, {self.unfinished} unfinished, "
            f"{self._faults.counts.total()} faults"
        )


def _go_on(act: Callable[[], None], progress: Progress, until: float) -> None:
    while time.monotonic() < until:
        act()
        progress.look()
        time.sleep(TICK_SECONDS)


def _settle(stage: Stage, uploads: Uploads, faults: Faults, progress: Progress) -> bool:
    """Every offer is answered and the queue is empty; False when that takes too long."""
    answering = Thread(target=uploads.finish, daemon=True)
    answering.start()
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        faults.keep()
        progress.look()
        if not answering.is_alive() and stage.rows(UNFINISHED)[0][0] == 0:
            return True
        time.sleep(TICK_SECONDS)
    return False


def _record(
    stage: Stage, given: argparse.Namespace, started_at: datetime, offers: list[Offer], faults: Faults, settled: bool
) -> Record:
    accounts = faults_accounts.account(stage, offers)
    comparison = faults_calls.compare(stage, faults.database_moments)
    reconcile, broken = _reconcile(stage)
    violations = [*accounts.violations, *comparison.violations, *broken]
    if not settled:
        violations.insert(0, f"the queue is not empty {SETTLE_SECONDS:.0f} s after the last fault")
    return {
        "seed": given.seed, "minutes": given.minutes, "started_at": started_at.isoformat(timespec="seconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"), "workers": given.workers,
        "uploads_per_second": given.uploads_per_second, "constructed": True,
        "faults": dict(faults.counts), "worker_exits": dict(faults.exits), "uploads": _uploads(offers),
        "jobs": dict(accounts.states), "tries": {str(tries): count for tries, count in accounts.tries.items()},
        "reasons": dict(accounts.reasons), "calls": {**comparison.outcomes, "reached the provider": comparison.reached},
        "repeated_calls": dict(comparison.repeated), "reconcile": reconcile, "violations": violations,
    }  # fmt: skip


def _uploads(offers: list[Offer]) -> dict[str, int]:
    refusals: Counter[str] = Counter()
    for offer in offers:
        refusals.update(offer.refused)
    return {
        "offered": len(offers),
        "answered 202": sum(offer.accepted for offer in offers),
        "of these replayed": sum(offer.replayed for offer in offers),
        **{f"sent again after {word}": count for word, count in sorted(refusals.items())},
    }


def _reconcile(stage: Stage) -> tuple[Record, list[str]]:
    """The product's own check of its invariants, and what it finds broken."""
    found = json.loads(stage.manage("reconcile", "--json", may_fail=True) or "{}")
    rules = found.get("rules", [])
    broken = [f"{rule['name']}: {', '.join(rule['ids'])}" for rule in rules if rule["broken"]]
    if not rules:
        broken = ["reconcile gave no answer"]
    return {"rules": len(rules), "sentence": "rules hold" if not broken else f"rules, {len(broken)} broken"}, broken


if __name__ == "__main__":
    sys.exit(main())
