"""The dated prices as the product has them, read from its own table: no price is written down here."""

import json
import subprocess
import sys
from typing import Any

from loadtests.faults_product import ROOT

READ = (
    "import json; from ingestion.provider.prices import PRICES; "
    "print(json.dumps({name: {'prompt_usd_per_million': str(p.prompt), 'completion_usd_per_million': str(p.completion),"
    " 'as_of': p.as_of.isoformat()} for name, p in PRICES.items()}))"
)


def prices() -> dict[str, dict[str, Any]]:
    """US dollars for a million tokens by model, each with the day that it is of."""
    done = subprocess.run([sys.executable, "-c", READ], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found
