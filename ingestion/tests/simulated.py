"""Drives the simulated provider from tests: a process of its own, reached over HTTP only."""

import atexit
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import httpx

PROJECT = Path(__file__).resolve().parents[2]


class Simulator:
    """A simulated provider on a free port; `base_url` is what PROVIDER_BASE_URL takes."""

    def __init__(self, *options: str, latency_scale: float = 0.0) -> None:
        self._options = (*options, "--latency-scale", str(latency_scale))
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""

    def start(self, port: int = 0) -> "Simulator":
        """It listens when this returns."""
        command = [sys.executable, "-m", "simulator", "--port", str(port), *self._options]
        self._process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        out = self._process.stdout
        line = out.readline() if out else ""
        if "http://" not in line:
            self.stop()
            raise RuntimeError(f"the simulator did not start: {line!r}")
        self.base_url = line[line.index("http://") :].split()[0].rstrip(",;")
        return self

    def stop(self) -> None:
        """Its process is gone; calls in flight are cut."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=10)
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None

    def __enter__(self) -> "Simulator":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        return httpx.URL(self.base_url).port or 80

    def mode(self, mode: str) -> None:
        """Every call from now on meets this mode."""
        self._control("POST", "mode", {"mode": mode})

    def fault(self, path: str, fault: str, times: int = 1) -> None:
        """The next `times` calls of the path meet this fault."""
        self.faults([{"path": path, "fault": fault, "times": times}])

    def faults(self, orders: list[dict[str, Any]]) -> None:
        """The next calls meet these faults, each path in this order."""
        self._control("POST", "faults", orders)

    def ledger(self) -> dict[str, Any]:
        """Every call that reached it, and totals."""
        found: dict[str, Any] = self._control("GET", "ledger")
        return found

    def reset(self) -> None:
        """Ledger, faults, buckets and mode are as at the start."""
        self._control("POST", "reset")

    def _control(self, method: str, route: str, body: object = None) -> Any:
        address = self.base_url.removesuffix("/v1") + f"/_control/{route}"
        answer = httpx.request(method, address, json=body, trust_env=False, timeout=10)
        answer.raise_for_status()
        return answer.json()


@cache
def shared_simulator() -> Simulator:
    """One simulator without latency for all tests of this process; reset it before use."""
    simulator = Simulator().start()
    atexit.register(simulator.stop)
    return simulator
