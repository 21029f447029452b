"""`python -m loadtests.defaults`: the product's settings as they are without any variable, and what `capacity` says.

The reports show these and no copy of them; a test compares the record with the product.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadtests import machine, sealing
from loadtests.faults_product import ROOT
from loadtests.installation import API_OPTIONS, KEPT, installed
from loadtests.prices_read import prices
from loadtests.recording import RESULTS, say

# Addresses and secrets differ from machine to machine and are no part of an argument.
UNSEEN = ("URL", "KEY", "CONNECTION_STRING", "HOSTS", "DIR", "PORT", "LARKFIELD_ENV", "CONTAINER")
READ = (
    "import json, sys; from larkfield import settings; "
    "print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:] if hasattr(settings, name)}))"
)


def names() -> list[str]:
    """The variables of .env.example that are numbers, words or switches."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    found = [line.partition("=")[0] for line in lines if "=" in line and not line.startswith("#")]
    return [name for name in found if not any(part in name for part in UNSEEN)]


def settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The defaults: every variable is set to nothing, which means its default, also where a .env says otherwise."""
    empty = dict.fromkeys(names(), "")
    nowhere = {"DATABASE_URL": "postgresql://nobody@localhost/none", "VALKEY_URL": "redis://localhost:1"}
    done = subprocess.run(
        [sys.executable, "-c", READ, *names()],
        cwd=ROOT, env={**environment, **empty, **nowhere}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def record(folder: Path) -> dict[str, Any]:
    """The folder holds defaults, prices and the capacity of a fresh installation, sealed."""
    with installed({}) as stage:
        processes = API_OPTIONS[API_OPTIONS.index("--workers") + 1]
        capacity = json.loads(stage.manage("capacity", "--json", "--api-processes", processes))
        kept = {name: value for name, value in stage.environment.items() if name in (*KEPT, "LARKFIELD_DATA_DIR")}
        found = {
            "settings": settings(kept), "capacity_fresh": capacity, "prices": prices(),
            "api": API_OPTIONS, "code": machine.fingerprint(), "machine": machine.describe(),
        }  # fmt: skip
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
    sealing.seal(folder)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """0: recorded."""
    parser = argparse.ArgumentParser(
        prog="loadtests.defaults",
        description="Records the product's defaults, its prices and the capacity of a fresh installation.",
        epilog="Example: python -m loadtests.defaults",
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    found = record(given.out / "defaults")
    say(f"{len(found['settings'])} settings; first limit {found['capacity_fresh']['first']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
