"""Runs a k6 scenario of this folder and reads its own counts."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loadtests import loopback

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
K6 = Path(sys.executable).parent / "k6"
GRACE_SECONDS = 120.0


class Attack:
    """A k6 process under way; `finish` waits for it. What it prints with console.log is `said`, a line each."""

    def __init__(self, scenario: str, variables: Mapping[str, object]) -> None:
        self._folder = TemporaryDirectory(prefix="larkfield-k6-")
        self._summary, self._console = Path(self._folder.name) / "summary.json", Path(self._folder.name) / "console"
        if not K6.exists():
            raise RuntimeError("k6 is not there: make builds the environment that has it")
        loopback.demand(variables)
        named = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        self._process = subprocess.Popen(
            [str(K6), "run", "--quiet", "--no-usage-report", "--log-format", "raw",
             "--console-output", str(self._console), "--summary-export", str(self._summary),
             *named, str(SCENARIOS / scenario)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.said: list[str] = []

    def finish(self, within: float) -> dict[str, Any]:
        """k6's metrics by name. RuntimeError when it failed."""
        try:
            _, errors = self._process.communicate(timeout=within + GRACE_SECONDS)
            if not self._summary.exists():
                raise RuntimeError(f"k6 ended with {self._process.returncode}: {errors[-500:]}")
            self.said = self._console.read_text().splitlines() if self._console.exists() else []
            found: dict[str, Any] = json.loads(self._summary.read_text())["metrics"]
            return found
        finally:
            self._process.kill()
            self._folder.cleanup()


def run(scenario: str, variables: Mapping[str, object], within: float) -> dict[str, Any]:
    """The scenario from start to end; k6's metrics by name."""
    return Attack(scenario, variables).finish(within)


def count(metrics: Mapping[str, Any], name: str) -> int:
    """A counter's value; 0 where it was never touched, of which k6 says nothing."""
    return int(metrics.get(name, {}).get("count", 0))
