"""The record of a fault run as JSON, and the table that closes it."""

import json
import sys
from pathlib import Path
from typing import Any

Record = dict[str, Any]
SHOWN_VIOLATIONS = 20


def write(record: Record, folder: Path) -> Path:
    """The record lies in the folder; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"faults-seed{record['seed']}-{record['minutes']:g}min.json"
    path.write_text(json.dumps(record, indent=2, sort_keys=False) + "\n")
    return path


def say(line: str = "") -> None:
    """A line for a person, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def show(record: Record) -> None:
    """The closing table: faults by kind, uploads, jobs, calls with each repeat's reason, violations."""
    for heading, rows in parts(record):
        say(f"\n{heading}")
        for name, value in rows:
            say(f"  {value:>8}  {name}")
    violations = record["violations"]
    for sentence in violations[:SHOWN_VIOLATIONS]:
        say(f"  BROKEN  {sentence}")
    say(f"\nviolations: {len(violations)}")


def parts(record: Record) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Headings with their counts, as a person reads them."""
    return [
        (f"Faults (seed {record['seed']}, {record['minutes']:g} min)", sorted(record["faults"].items())),
        ("Workers that ended, by exit code", sorted(record["worker_exits"].items())),
        ("Uploads", list(record["uploads"].items())),
        ("Jobs by state", sorted(record["jobs"].items())),
        ("Jobs by tries", sorted(record["tries"].items())),
        ("Ended without success, by reason", sorted(record["reasons"].items())),
        ("Provider calls by outcome", sorted(record["calls"].items())),
        ("Calls that were made again, by reason", sorted(record["repeated_calls"].items())),
        ("Invariants", [(record["reconcile"]["sentence"], record["reconcile"]["rules"])]),
    ]
