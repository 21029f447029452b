"""The stage of a failure path: an installation whose workers start, stop and die by hand, and its counts."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from loadtests.faults_product import until
from loadtests.installation import Installation, installed

TESTS = "ingestion/tests/processes"
# Leases short enough for a run of seconds; the ratios are those of the defaults.
QUICK = {
    "LEASE_SECONDS": "8", "HEARTBEAT_SECONDS": "1", "PROVIDER_TIMEOUT_SECONDS": "6", "EMBEDDING_BATCH_INPUTS": "2",
    "BACKOFF_BASE_SECONDS": "1", "BACKOFF_MAX_SECONDS": "2", "PROMISED_WAIT_SECONDS": "0",
}  # fmt: skip
QUICK_PROVIDER = ("--latency-scale", "0.1")
# Of a document of this kind under QUICK: the vectors come in several batches.
SECTIONS = 8
BATCHES_BEFORE = 2
WORDS = ("parcel", "refund", "courier", "invoice", "warehouse", "customer", "receipt", "exchange", "voucher", "label")


@contextmanager
def staged(
    changes: Mapping[str, str] | None = None, *, provider: tuple[str, ...] = QUICK_PROVIDER
) -> Iterator[Installation]:
    """An installation without a worker, under QUICK and the changes."""
    with installed({**QUICK, **(changes or {})}, workers=0, provider=provider) as stage:
        yield stage


def document(name: str, sections: int = SECTIONS) -> str:
    """A made-up policy that shares no chunk with another."""
    parts = [f"# Policy {name}\n"]
    for section in range(sections):
        words = " ".join(WORDS[(section * 3 + place * 7 + len(name)) % len(WORDS)] for place in range(70))
        parts.append(f"## Part {section} of {name}\n\nRule {name} {section}: {words}.\n")
    return "\n".join(parts)


def accepted(stage: Installation, headers: Mapping[str, str], name: str, sections: int = SECTIONS) -> str:
    """The job of a new document."""
    answer = stage.upload(headers, name, document(name, sections))
    answer.raise_for_status()
    return str(answer.json()["job"]["id"])


def work(stage: Installation, name: str) -> None:
    """A worker called `name` is there and has said so."""
    known = stage.rows("SELECT count(*) FROM ingestion_worker")[0][0]
    stage.start_worker(name)
    until(f"{name} works", lambda: stage.rows("SELECT count(*) FROM ingestion_worker")[0][0] > known)


def ended(stage: Installation, name: str, number: int) -> int:
    """The exit code of the worker after this signal."""
    child = stage.workers[name]
    assert child is not None
    if number == signal.SIGKILL:
        child.kill()
    else:
        child.signal(number)
    until(f"{name} has ended", child.has_ended)
    stage.children.forget(child)
    stage.workers[name] = None
    return int(child.process.returncode)


def job(stage: Installation, identity: str) -> dict[str, Any]:
    """State, tries and generation as the row has them."""
    row = stage.rows("SELECT state, attempt, generation FROM ingestion_job WHERE id::text = %s", identity)[0]
    return dict(zip(("state", "attempt", "generation"), row, strict=True))


def succeeded(stage: Installation, identity: str) -> bool:
    return bool(job(stage, identity)["state"] == "succeeded")


def states(stage: Installation) -> dict[str, int]:
    """Jobs of the documents' queue by state."""
    return dict(stage.rows("SELECT state, count(*) FROM ingestion_job WHERE queue = 'documents' GROUP BY state"))


def most_attempts(stage: Installation) -> int:
    return int(stage.rows("SELECT coalesce(max(attempt), 0) FROM ingestion_job WHERE queue = 'documents'")[0][0])


def saved_once(stage: Installation, identity: str) -> dict[str, int]:
    """Rows of a job: chunks, their positions, vectors, the chunks that have more or less than one, and summaries."""
    row = stage.rows(
        """
        SELECT (SELECT count(*) FROM ingestion_chunk WHERE job_id::text = %(job)s),
               (SELECT count(DISTINCT position) FROM ingestion_chunk WHERE job_id::text = %(job)s),
               (SELECT count(*) FROM ingestion_chunkvector v JOIN ingestion_chunk c ON c.id = v.chunk_id
                WHERE c.job_id::text = %(job)s),
               (SELECT count(*) FROM ingestion_chunk c WHERE c.job_id::text = %(job)s AND 1 <>
                (SELECT count(*) FROM ingestion_chunkvector v WHERE v.chunk_id = c.id)),
               (SELECT count(*) FROM ingestion_summary WHERE job_id::text = %(job)s)
        """.replace("%(job)s", "%s"),
        *[identity] * 5,
    )[0]
    return dict(zip(("chunks", "positions", "vectors", "chunks_without_one_vector", "summaries"), row, strict=True))


def is_saved_once(found: Mapping[str, int]) -> bool:
    """One row and one vector for each position, one summary."""
    return (
        found["chunks"] == found["positions"] == found["vectors"] > 0
        and found["chunks_without_one_vector"] == 0
        and found["summaries"] == 1
    )


def calls_of(stage: Installation, identity: str) -> list[dict[str, Any]]:
    """Every provider call of the job, in order; an outcome that a crash left open is `unknown`."""
    query = """
        SELECT generation, step, coalesce(outcome, 'unknown'), inputs FROM ingestion_providercall
        WHERE job_id::text = %s ORDER BY id
    """
    names = ("generation", "step", "outcome", "inputs")
    return [dict(zip(names, row, strict=True)) for row in stage.rows(query, identity)]


def settlements(stage: Installation, identity: str) -> list[str]:
    query = "SELECT outcome FROM ingestion_joboutcome WHERE job_id::text = %s ORDER BY generation"
    return [str(row[0]) for row in stage.rows(query, identity)]


def hold_in_third_batch(stage: Installation) -> None:
    """The provider answers two embeddings calls and hangs in the third; `shuffled` is harmless and counts calls."""
    stage.control(
        "faults",
        [
            {"path": "embeddings", "fault": "shuffled", "times": BATCHES_BEFORE},
            {"path": "embeddings", "fault": "timeout", "times": 1},
        ],
    )


def await_hold(stage: Installation) -> None:
    """The third call is under way."""

    def hangs() -> bool:
        calls = [call for call in stage.provider_ledger()["calls"] if call["path"] == "embeddings"]
        return len(calls) > BATCHES_BEFORE and calls[BATCHES_BEFORE]["status"] == 0

    until("the third batch hangs", hangs)
