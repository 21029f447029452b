"""`python -m loadtests.alone [--documents N] [--short]`: one job at a time: each step's time, chunks, tokens, calls.

Documents of different lengths from the corpus, each new, with the account's normal quotas and the simulator's normal
times. The simulator times a summary like any chat reply. A constructed text, longer than any policy and dear enough to
use up the embedding quota, comes last and is kept apart: it says what a lease needs.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from loadtests import job_rows, machine, sealing
from loadtests.installation import Installation, installed
from loadtests.percentiles import points
from loadtests.recording import RESULTS, say
from loadtests.run import SHORT_RESULTS
from loadtests.texts import Text, policies

DOCUMENTS = 14
STEPS = ("pick_up", "read_and_chunk", "summarize", "embed", "publish", "whole")
SETTINGS: dict[str, str] = {}
# Copies of the longest policy in the constructed text: about twice what the embedding quota holds at the start.
COPIES = 5
CHUNKS = """
SELECT version.chunk_count, length(version.text)
FROM ingestion_documentversion AS version WHERE version.job_id::text = %s
"""
Row = dict[str, Any]


def chosen(count: int) -> list[Text]:
    """`count` policies from the shortest to the longest, evenly by rank, both ends included."""
    ordered = sorted(policies(), key=lambda one: len(one["text"]))
    count = max(2, min(count, len(ordered)))
    return [ordered[round(place * (len(ordered) - 1) / (count - 1))] for place in range(count)]


def constructed_longest(copies: int) -> Text:
    """The longest policy several times over; every paragraph of a copy is its own, so that no vector is taken over."""
    text = max((one["text"] for one in policies()), key=len)
    parts = [text.replace("\n\n", f"\n\nCopy {copy}. ") for copy in range(copies)]
    return {"slug": "constructed-longest", "text": "\n\n".join(parts)}


def measure(count: int, place: Path, *, is_short: bool) -> Row:
    """The folder holds a row for each document and the medians, sealed; returns the summary."""
    before, began = machine.reading(), time.monotonic()
    rows = []
    with installed(SETTINGS) as stage:
        headers = stage.caller("alone", "upload,operate")
        for text in chosen(count):
            rows.append(_one(stage, headers, text))
            say(_line(rows[-1]))
        longest = _one(stage, headers, constructed_longest(1 if is_short else COPIES))
        say(_line(longest))
        checked = stage.reconcile()
    found = summary(rows) | {
        "rows": rows, "constructed_longest": longest,
        "short": is_short, "seconds": round(time.monotonic() - began, 1), "settings": SETTINGS, "reconcile": checked,
        "code": machine.fingerprint(), "machine": machine.describe(), "before": before, "after": machine.reading(),
    }  # fmt: skip
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "jobs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "summary.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    sealing.seal(place)
    return found


def _one(stage: Installation, headers: dict[str, str], text: Text) -> Row:
    """The document's job from its upload to its end, with the queue empty before and after."""
    since = job_rows.now_of(stage)
    stage.upload(headers, text["slug"], text["text"]).raise_for_status()
    stage.await_empty("documents")
    (job,) = job_rows.jobs_since(stage, since, "documents")
    calls = [call for call in job_rows.calls_since(stage, since) if call["job"] == job["job"]]
    chunks, characters = stage.rows(CHUNKS, job["job"])[0]
    return {
        "slug": text["slug"], "characters": characters, "chunks": chunks, "state": job["state"],
        "attempt": job["attempt"], "generation": job["generation"], "calls": len(calls),
        **steps(job, calls), **tokens(calls),
        "cost_usd": round(sum(call["cost_usd"] for call in calls), 9),
    }  # fmt: skip


def steps(job: Row, calls: Sequence[Row]) -> dict[str, float | None]:
    """Seconds of each step, from the database's clock. A document without anything to embed has no such step."""
    began, ended = job["queued_at"] + job["start_seconds"], job["queued_at"] + job["result_seconds"]
    chat = [call for call in calls if call["lane"] == "chat"]
    embedded = [call for call in calls if call["lane"] == "embeddings"]
    last = calls[-1]["started_at"] + calls[-1]["seconds"]
    found = {
        "pick_up": job["start_seconds"],
        "read_and_chunk": calls[0]["started_at"] - began,
        "summarize": sum(call["seconds"] for call in chat),
        "embed": (last - embedded[0]["started_at"]) if embedded else None,
        "publish": ended - last,
        "whole": job["result_seconds"],
    }
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def tokens(calls: Sequence[Row]) -> dict[str, int]:
    chat = [call for call in calls if call["lane"] == "chat"]
    embedded = [call for call in calls if call["lane"] == "embeddings"]
    return {
        "chat_calls": len(chat), "chat_prompt_tokens": sum(call["prompt_tokens"] for call in chat),
        "chat_completion_tokens": sum(call["completion_tokens"] for call in chat),
        "embedding_calls": len(embedded), "embedded_inputs": sum(call["inputs"] for call in embedded),
        "embedding_tokens": sum(call["prompt_tokens"] for call in embedded),
        "largest_call_tokens": max((call["prompt_tokens"] for call in calls), default=0),
    }  # fmt: skip


def summary(rows: Sequence[Row]) -> Row:
    """Medians and the slowest of each step, and the sums that the limits need."""
    slowest = max(rows, key=lambda row: row["whole"])
    found: Row = {
        "documents": len(rows),
        "steps": {name: points([row[name] for row in rows if row[name] is not None]) for name in STEPS},
        "slowest": slowest,
        "longest_text": max(rows, key=lambda row: row["characters"]),
    }
    for name in ("chunks", "characters", "calls", "embedding_calls", "embedding_tokens", "chat_prompt_tokens",
                 "chat_completion_tokens", "cost_usd"):  # fmt: skip
        values = [row[name] for row in rows]
        found[name] = {"median": median(values), "least": min(values), "most": max(values), "sum": sum(values)}
    return found


def _line(row: Row) -> str:
    embed = "–" if row["embed"] is None else f"{row['embed']:.2f} s"
    return (
        f"  {row['slug'][:32]:<32} {row['characters']:7d} characters {row['chunks']:4d} chunks  "
        f"summary {row['summarize']:.2f} s  embed {embed} in {row['embedding_calls']} calls  whole {row['whole']:.2f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """0: measured; 1: an invariant is broken."""
    parser = argparse.ArgumentParser(
        prog="loadtests.alone",
        description="One document job at a time, over documents of different lengths.",
        epilog="Example: python -m loadtests.alone --documents 14",
    )
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="how many (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="two documents, kept apart from the evidence")
    parser.add_argument("--out", type=Path, help="folder of the results")
    given = parser.parse_args(arguments)
    folder = given.out or (SHORT_RESULTS if given.short else RESULTS)
    found = measure(2 if given.short else given.documents, folder / "alone", is_short=given.short)
    whole = found["steps"]["whole"]
    say(f"{found['documents']} documents: whole job median {whole['p50']:.2f} s, slowest {whole['most']:.2f} s")
    return 1 if found["reconcile"]["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
