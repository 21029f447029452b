"""An installation whose provider is the door: real vectors, the simulator's replies behind."""

import sys
from pathlib import Path

from loadtests.environments import python_of
from loadtests.faults_product import until
from loadtests.footprint import free_port
from loadtests.installation import Installation

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
# The model's libraries take most of it to load.
READY_SECONDS = 180.0


class RealModel(Installation):
    def start_provider(self, port: int, *options: str) -> None:
        python = python_of(REQUIREMENTS, "real-model", "the real model's environment (some minutes, 5 GB)")
        behind = free_port()
        simulator = [sys.executable, "-m", "simulator", "--port", str(behind), *options]
        self.children.start("simulator", simulator, self.environment, lasting=False)
        door = [
            str(python),
            "-m",
            "loadtests.real_model",
            "--port",
            str(port),
            "--behind",
            f"http://127.0.0.1:{behind}",
        ]
        self.provider = self.children.start("real-model", door, self.environment, lasting=False)
        until("the model answers", lambda: self._answers(f"{self.provider_url}/_control/ledger"), READY_SECONDS)
