"""Letting go of what nobody needs any more, in bounded steps that lock little and can be stopped anywhere.

What stays for good: versions with their numbers and texts, jobs with their newest record, events with their identity
and effect (a late delivery must stay a replay), and calls that a job was charged for. Dead letters and failed jobs
keep everything: a person may still retry them. What goes with a deleted document goes HISTORY_DAYS after it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, transaction

from ingestion import tallies
from ingestion.stored_files import PRUNED, old_files

# Rows of one step: a fraction of a second's work under locks.
ROWS_A_STEP = 1_000
# A version has up to some hundred chunks, each with a vector.
VERSIONS_A_STEP = 20
# A worker says hello every few seconds.
WORKER_SILENCE = timedelta(days=1)

# States that nothing leads out of.
SETTLED = "('succeeded', 'cancelled', 'expired')"


@dataclass(frozen=True)
class Due:
    """A query for what is due; `alias` is the table in it whose rows go and are locked meanwhile."""

    alias: str
    query: str

    def some(self, most: int) -> str:
        """SKIP LOCKED: what somebody works with at this moment is no longer due, or comes with the next prune."""
        return f"{self.query} LIMIT {most} FOR UPDATE OF {self.alias} SKIP LOCKED"


KEYS = Due("held", "SELECT id FROM ingestion_idempotencykey AS held WHERE expires_at <= now()")

OUTCOMES = Due(
    "outcome",
    f"""
    SELECT outcome.id FROM ingestion_joboutcome AS outcome JOIN ingestion_job AS job ON job.id = outcome.job_id
    WHERE job.state IN {SETTLED} AND job.finished_at < now() - %(history)s AND outcome.generation < job.generation
    """,  # noqa: S608 - a constant
)

# Questions belong to no job. What a job was charged for stays, or its cost would be forgotten.
CALLS = Due(
    "call",
    f"""
    SELECT call.id FROM ingestion_providercall AS call LEFT JOIN ingestion_job AS job ON job.id = call.job_id
    WHERE call.started_at < now() - %(history)s
      AND (call.job_id IS NULL
           OR (job.state IN {SETTLED} AND job.finished_at < now() - %(history)s
               AND call.outcome IS DISTINCT FROM 'ok' AND call.cost_usd = 0))
    """,  # noqa: S608 - a constant
)

WORKERS = Due("silent", "SELECT name FROM ingestion_worker AS silent WHERE seen_at < now() - %(silence)s")

PAYLOADS = Due(
    "event",
    f"""
    SELECT event.id FROM ingestion_eventrecord AS event JOIN ingestion_job AS job ON job.id = event.job_id
    WHERE job.state IN {SETTLED} AND job.finished_at < now() - %(history)s AND event.payload <> '{{}}'
    """,  # noqa: S608 - a constant
)

# Never the published version: it has no superseded_at, and its document is not deleted.
CHUNKED = Due(
    "version",
    """
    SELECT version.id FROM ingestion_documentversion AS version JOIN ingestion_job AS job ON job.id = version.job_id
    WHERE (version.superseded_at < now() - %(history)s
           OR (job.state IN ('cancelled', 'expired') AND job.finished_at < now() - %(history)s)
           OR (version.deleted_at < now() - %(history)s AND job.finished_at IS NOT NULL))
      AND EXISTS (SELECT FROM ingestion_chunk AS chunk WHERE chunk.version_id = version.id)
    """,
)

DELETED = Due(
    "version",
    """
    SELECT version.id FROM ingestion_documentversion AS version JOIN ingestion_job AS job ON job.id = version.job_id
    WHERE version.deleted_at < now() - %(history)s AND job.finished_at IS NOT NULL
      AND version.storage_key NOT LIKE 'pruned/%%'
    """,
)


@dataclass(frozen=True)
class Step:
    """`count` says how much is due; `remove` takes at most `most` of it and returns how much that was."""

    what: str
    count: Callable[[], int]
    remove: Callable[[], int]
    most: float


def prune(*, is_dry: bool = False) -> Iterator[tuple[str, int]]:
    """What was removed, as (what, number) when it is done with each; with `is_dry` what would be."""
    if not is_dry:
        # What goes is in the metrics before.
        tallies.count(patience_seconds=float("inf"))
    for step in _steps():
        yield step.what, step.count() if is_dry else _repeat(step)


def _repeat(step: Step) -> int:
    total = 0
    while True:
        removed = step.remove()
        total += removed
        if removed < step.most:
            return total


def _steps() -> list[Step]:
    rows, versions = ROWS_A_STEP, VERSIONS_A_STEP
    return [
        _rows("expired idempotency keys", "ingestion_idempotencykey", "id", KEYS),
        _rows("earlier records of settled jobs", "ingestion_joboutcome", "id", OUTCOMES),
        _rows("calls for questions, and failed calls of settled jobs", "ingestion_providercall", "id", CALLS),
        _rows("silent workers", "ingestion_worker", "name", WORKERS),
        Step("payloads of settled events", lambda: _count(PAYLOADS), _empty_payloads, rows),
        Step("versions whose chunks and vectors went", lambda: _count(CHUNKED), _remove_chunks, versions),
        Step("deleted documents' files, texts and summaries", lambda: _count(DELETED), _remove_deleted, versions),
        # One pass: the storage is listed once.
        Step("files without a version", lambda: sum(1 for _ in old_files()), _remove_files, float("inf")),
    ]


def _rows(what: str, table: str, key: str, due: Due) -> Step:
    statement = f"DELETE FROM {table} WHERE {key} IN ({due.some(ROWS_A_STEP)})"  # noqa: S608 - constants
    return Step(what, lambda: _count(due), lambda: _run(statement), ROWS_A_STEP)


def _parameters() -> dict[str, Any]:
    return {"history": timedelta(days=settings.HISTORY_DAYS), "silence": WORKER_SILENCE}


def _run(statement: str, **parameters: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, {**_parameters(), **parameters})
        return int(cursor.rowcount)


def _count(due: Due) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({due.query}) AS due", _parameters())  # noqa: S608 - constants
        return int(cursor.fetchone()[0])


def _pick(due: Due) -> list[int]:
    """Some versions that are due, locked until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(due.some(VERSIONS_A_STEP), _parameters())
        return [row[0] for row in cursor.fetchall()]


def _empty_payloads() -> int:
    """The payload's hash stays: it decides whether a late delivery is a replay."""
    due = PAYLOADS.some(ROWS_A_STEP)
    return _run(f"UPDATE ingestion_eventrecord SET payload = '{{}}' WHERE id IN ({due})")  # noqa: S608 - constants


@transaction.atomic
def _remove_chunks() -> int:
    versions = _pick(CHUNKED)
    chunks = "SELECT id FROM ingestion_chunk WHERE version_id = ANY(%(versions)s)"
    _run(f"DELETE FROM ingestion_chunkvector WHERE chunk_id IN ({chunks})", versions=versions)  # noqa: S608 - constants
    _run("DELETE FROM ingestion_chunk WHERE version_id = ANY(%(versions)s)", versions=versions)
    return len(versions)


def _remove_deleted() -> int:
    """The rows let go of their files first: a crash in between leaves files without a version, which go another day."""
    with transaction.atomic(), connection.cursor() as cursor:
        versions = _pick(DELETED)
        cursor.execute(
            "DELETE FROM ingestion_summary USING ingestion_documentversion AS version "
            "WHERE version.id = ANY(%s) AND ingestion_summary.job_id = version.job_id",
            [versions],
        )
        cursor.execute("SELECT storage_key FROM ingestion_documentversion WHERE id = ANY(%s)", [versions])
        keys = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            "UPDATE ingestion_documentversion SET text = NULL, storage_key = %s || id WHERE id = ANY(%s)",
            [PRUNED, versions],
        )
    for key in keys:
        default_storage.delete(key)
    return len(versions)


def _remove_files() -> int:
    removed = 0
    for key in old_files():
        default_storage.delete(key)
        removed += 1
    return removed
