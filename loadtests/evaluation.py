"""`python -m loadtests.evaluation [--real-model] [--search-only] [--out DIR]`: both question sets, recorded.

An installation of its own loads the policies that come with the product and runs `manage.py evaluate` on them. The
provider is the simulated one, without latency; with --real-model its vectors are a real small model's.
"""

import argparse
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadtests import recording
from loadtests.installation import Installation, installed
from loadtests.real_model.stage import RealModel
from loadtests.recording import RESULTS, Clock, Figure, Found, say

SETTINGS = {
    "QUESTIONS_PER_MINUTE": "1000000", "CHAT_REQUESTS_PER_MINUTE": "1000000",
    "EMBEDDING_TOKENS_PER_MINUTE": "100000000",
}  # fmt: skip
PROVIDER = (
    "--latency-scale", "0", "--chat-requests-per-minute", "1000000", "--embedding-tokens-per-minute", "100000000",
)  # fmt: skip
NOTES = ["The vectors are the simulated provider's: what they say of quality holds for them, not for a real model."]
REAL_NOTES = [
    "The vectors are those of all-MiniLM-L6-v2 (384 dimensions), which reads a text's first 256 tokens; the answers "
    "are the simulated provider's."
]


def measure(*, search_only: bool = False, is_real: bool = False) -> Found:
    """The figures of both sets, beside search by vectors alone."""
    with installed(SETTINGS, provider=PROVIDER, kind=RealModel if is_real else Installation) as stage:
        token = stage.caller("library", "upload,ask")["Authorization"].split()[1]
        stage.environment["LARKFIELD_TOKEN"] = token
        say("loading the policies")
        stage.manage("loadcorpus", "--api", stage.api_url)
        say("asking")
        found = json.loads(stage.manage("evaluate", "--json", *(["--search-only"] if search_only else [])))
        return Found(
            figures=[one for name, numbers in found["sets"].items() for one in figures(name, numbers)],
            facts=found, notes=REAL_NOTES if is_real else NOTES, settings=dict(SETTINGS), reconcile=stage.reconcile(),
        )  # fmt: skip


def figures(name: str, numbers: Mapping[str, Any]) -> list[Figure]:
    """What one set says, in an order that puts the baseline beside."""
    made = [
        Figure(f"{name}: {what} of {kind}", numbers[part][key], "")
        for what, key in (("hit@1", "hit_at_1"), ("hit@5", "hit_at_5"), ("MRR", "mrr"))
        for kind, part in (("search", "search"), ("vectors alone", "vectors_only"))
    ]
    answers = numbers.get("answers", {})
    return made + [
        Figure(f"{name}: {what}", answers[key])
        for what, key in (("citation precision", "citation_precision"), ("abstained where it should", "abstained"))
        if answers.get(key) is not None
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="loadtests.evaluation", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--search-only", action="store_true", help="make no answers")
    parser.add_argument(
        "--real-model", action="store_true", help="vectors by a real small model (its environment is 5 GB)"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    clock = Clock()
    found = measure(search_only=given.search_only, is_real=given.real_model)
    options = f"{' --real-model' if given.real_model else ''}{' --search-only' if given.search_only else ''}"
    what = "evaluation-real-model" if given.real_model else "evaluation"
    command = f"python -m loadtests.evaluation{options}"
    place = recording.write(what, found, clock, given.out, short=False, command=command)
    recording.show(found.figures, found.notes)
    say(f"  result: {place}")
    return 1 if found.reconcile["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
