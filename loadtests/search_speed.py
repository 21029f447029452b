"""`python -m loadtests.search_speed [--short] [--out DIR]`: search at 100,000 published chunks with ten old versions.

One client asks in turns: the statement alone, the search function, HTTP with saved vectors of the questions, HTTP with
questions that the provider (simulated, without latency) must embed. Then recall against an exact scan.
"""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadtests import recording
from loadtests.faults_product import ROOT
from loadtests.installation import Installation, installed
from loadtests.percentiles import median, percentile
from loadtests.recording import RESULTS, Clock, Figure, Found, say
from loadtests.search.filling import OLD_VERSIONS, fill

CHUNKS, SHORT_CHUNKS = 100_000, 5_000
QUESTIONS, PASSES = 200, 5
# No limit is met: what is measured is search alone.
SETTINGS = {"QUESTIONS_PER_MINUTE": "10000000", "EMBEDDING_TOKENS_PER_MINUTE": "1000000000", "LOG_LEVEL": "WARNING"}
PROVIDER = ("--latency-scale", "0", "--embedding-tokens-per-minute", "1000000000")
NOTES = [
    "The bare SQL is the product's own search statement, prepared, sent by the driver alone with vectors at hand.",
    "The search function and HTTP find the questions' vectors saved in Valkey; 'new questions' are embedded by the "
    "simulated provider without latency, with a reservation and a settlement in the ledger each.",
    "Vectors lie around 400 topics; a document's old versions lie as near to a question as its published one.",
    "Recall compares with the same statement whose nearest vectors are found by a scan of all searchable vectors.",
]


def measure(*, short: bool = False) -> Found:
    """Rates and times of each kind of pass, medians over passes that take turns, and the recall."""
    chunks, count, passes = (SHORT_CHUNKS, 40, 1) if short else (CHUNKS, QUESTIONS, PASSES)
    with installed(SETTINGS, workers=0, provider=PROVIDER) as stage:
        headers = stage.caller("reader", "ask")
        say(f"filling: {chunks:,} published chunks, {OLD_VERSIONS} old versions of each document")
        fill(stage.database_url, chunks)
        say(f"{passes} passes of {count} questions each")
        seen = _passes(stage, count, passes, headers["Authorization"].split()[1])
    return Found(
        figures=figures(seen), notes=NOTES, settings=dict(SETTINGS),
        facts={"published_chunks": chunks, "old_versions": OLD_VERSIONS, "questions": count, "plan": seen["plan"]},
        rows={"search-passes": seen["passes"]}, reconcile={"rules": 0, "broken": {}},
    )  # fmt: skip


def _passes(stage: Installation, count: int, passes: int, token: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "loadtests.search.passes", str(count), str(passes), stage.api_url, token]
    done = subprocess.run(command, cwd=ROOT, env=stage.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the passes failed: {done.stderr.strip()[-800:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures(seen: Mapping[str, Any]) -> list[Figure]:
    """Medians of the passes; the ratio is taken pass by pass: what disturbs a pass disturbs both of its parts."""
    rates: dict[str, list[float]] = {}
    p95s: dict[str, list[float]] = {}
    for row in seen["passes"]:
        rates.setdefault(row["kind"], []).append(1000 * len(row["ms"]) / sum(row["ms"]))
        p95s.setdefault(row["kind"], []).append(percentile(row["ms"], 0.95))
    parts = [mine / bare for mine, bare in zip(rates["function"], rates["statement"], strict=True)]
    return [
        Figure("bare SQL, one client", median(rates["statement"]), "/s"),
        Figure("search function, vectors saved, one client", median(rates["function"]), "/s"),
        Figure("search function over bare SQL", median(parts), "", "≥ 0.7", "median of the passes' ratios"),
        Figure("search over HTTP, vectors saved, one client", median(rates["http"]), "/s"),
        Figure("search over HTTP, new questions, one client", median(rates["http, new"]), "/s"),
        Figure("ten nearest vectors alone, no words, no texts", median(rates["nearest"]), "/s"),
        Figure("search function, p95", median(p95s["function"]), "ms", "< 50"),
        Figure("search over HTTP, vectors saved, p95", median(p95s["http"]), "ms", "< 50"),
        Figure("search over HTTP, new questions, p95", median(p95s["http, new"]), "ms", "< 50"),
        Figure("recall of the first ten by vectors alone", seen["recall_vectors"], "", "≥ 0.99"),
        Figure("recall of the first ten of search", seen["recall_search"], "", "≥ 0.99"),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="loadtests.search_speed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="5,000 chunks and one pass, to see that it works")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    clock = Clock()
    found = measure(short=given.short)
    command = f"python -m loadtests.search_speed{' --short' if given.short else ''}"
    place = recording.write("search", found, clock, given.out, short=given.short, command=command)
    recording.show(found.figures, found.notes)
    say(f"  result: {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
