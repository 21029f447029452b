"""`python -m loadtests.cost [RUN…]`: what a job, a question and the policy day cost: token counts × dated prices.

Each computation is a line of the ledger `results/cost/ledger.jsonl`: the counts with the run that they are from, the
prices with their date. Prices are made up for the simulated provider, and prices change.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from loadtests import machine, sealing, workload
from loadtests.prices_read import prices
from loadtests.recording import RESULTS, say

MILLION = Decimal(1_000_000)
MODELS = {"chat": "chat-small", "embeddings": "embed-small"}
LEDGER = "ledger.jsonl"
Row = dict[str, Any]


class NoCalls(Exception):
    """A run without a recorded provider call."""


def counted(calls: Sequence[Row], purpose: str) -> dict[str, dict[str, int]]:
    """Tokens of each lane for versions (`bulk`) or for questions."""
    chosen = [call for call in calls if (call["purpose"] == "bulk") == (purpose == "bulk")]
    return {
        lane: {
            "calls": sum(call["lane"] == lane for call in chosen),
            "prompt_tokens": sum(call["prompt_tokens"] for call in chosen if call["lane"] == lane),
            "completion_tokens": sum(call["completion_tokens"] for call in chosen if call["lane"] == lane),
        }
        for lane in MODELS
    }


def usd(tokens: Mapping[str, Mapping[str, int]], known: Mapping[str, Mapping[str, Any]]) -> Decimal:
    """Counts × prices, exact."""
    total = Decimal(0)
    for lane, model in MODELS.items():
        price = known[model]
        total += tokens[lane]["prompt_tokens"] * Decimal(price["prompt_usd_per_million"])
        total += tokens[lane]["completion_tokens"] * Decimal(price["completion_usd_per_million"])
    return total / MILLION


def entry(run: Path, known: Mapping[str, Mapping[str, Any]]) -> Row:
    """The ledger's line of one recorded pass. NoCalls where it has none."""
    calls = _rows(run / "calls.jsonl")
    if not calls:
        raise NoCalls(f"{run} has no provider calls")
    jobs = len(_rows(run / "jobs.jsonl"))
    of_versions, of_questions = counted(calls, "bulk"), counted(calls, "question")
    asked = of_questions["chat"]["calls"]
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": _place(run),
        "prices": dict(known),
        "versions": {"count": jobs, "tokens": of_versions, "usd_each": _each(usd(of_versions, known), jobs)},
        "questions": {"count": asked, "tokens": of_questions, "usd_each": _each(usd(of_questions, known), asked)},
    }


def policy_day(versions_usd: Decimal, questions_usd: Decimal) -> dict[str, Any]:
    """The assumed policy day at these costs; each factor is shown."""
    versions = workload.value("policies") * workload.value("policy_rounds")
    questions = workload.value("policy_questions_per_day")
    return {
        "versions": versions, "versions_usd": str(versions * versions_usd),
        "questions": questions, "questions_usd": str(questions * questions_usd),
        "usd": str(versions * versions_usd + questions * questions_usd),
    }  # fmt: skip


def record(runs: Mapping[str, Path], folder: Path) -> Row:
    """The ledger has a line for each run by its role (`new`, `edited`), and the policy day beside it; sealed."""
    known = prices()
    folder.mkdir(parents=True, exist_ok=True)
    entries = {role: {"role": role, **entry(run, known)} for role, run in runs.items()}
    with (folder / LEDGER).open("a") as ledger:
        ledger.writelines(json.dumps(one) + "\n" for one in entries.values())
    edited = entries["edited"]
    asked = Decimal(edited["questions"]["usd_each"] or "0")
    found = {
        "code": machine.fingerprint(), "prices": known, **entries,
        "policy_day_edits": policy_day(Decimal(edited["versions"]["usd_each"]), asked),
        "policy_day_new_texts": policy_day(Decimal(entries["new"]["versions"]["usd_each"]), asked),
    }  # fmt: skip
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
    sealing.seal(folder)
    return found


def _each(total: Decimal, count: int) -> str | None:
    return str((total / count).quantize(Decimal("0.000000001"))) if count else None


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _place(run: Path) -> str:
    try:
        return run.resolve().relative_to(RESULTS.parent.parent).as_posix()
    except ValueError:
        return run.name


def main(arguments: Sequence[str] | None = None) -> int:
    """0: printed; 2: a run has no calls."""
    parser = argparse.ArgumentParser(
        prog="loadtests.cost",
        description="The AI cost of a version and of a question in recorded passes: token counts × dated prices.",
        epilog="Example: python -m loadtests.cost loadtests/results/burst/normal/pass-1",
    )
    parser.add_argument("runs", nargs="+", type=Path)
    given = parser.parse_args(arguments)
    known = prices()
    try:
        for run in given.runs:
            say(json.dumps(entry(run, known), indent=1))
    except NoCalls as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
