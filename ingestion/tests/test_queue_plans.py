"""How much the hot statements read: it grows with the batch, never with the backlog or the history."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ingestion import standing
from ingestion.queue.sql import statement
from ingestion.tests.making import make_caller

pytestmark = pytest.mark.django_db

QUEUED = 5_000
FINISHED = 20_000
BATCH = 16

FILL = """
INSERT INTO ingestion_job (queue, kind, state, caller_id, turn, lane, max_attempts, units, bytes, queued_at, ready_at,
                           finished_at)
SELECT 'documents', 'ingest_version', %(state)s, %(caller)s, number, 'chat', 5, 10, 100,
       now() - interval '1 day', now() - interval '1 day', CASE WHEN %(state)s = 'succeeded' THEN now() END
FROM generate_series(1, %(count)s) AS number
"""


@pytest.fixture
def backlog() -> int:
    caller = make_caller()
    with connection.cursor() as cursor:
        for state, count in (("succeeded", FINISHED), ("queued", QUEUED)):
            cursor.execute(FILL, {"state": state, "caller": caller.pk, "count": count})
        cursor.execute("ANALYZE ingestion_job")
    return caller.pk


def most_rows_read(sql: str, values: dict[str, Any]) -> float:
    """The most rows that any node of the executed plan gave or threw away."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", values)
        answer = cursor.fetchone()[0]
    plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
    return max(_rows(plan))


def _rows(node: dict[str, Any]) -> list[float]:
    removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck", "Join Filter"))
    found = [(node["Actual Rows"] + removed) * node["Actual Loops"]]
    for below in node.get("Plans", []):
        found += _rows(below)
    return found


def test_a_claim_reads_as_many_rows_as_it_claims(backlog: int) -> None:
    values = {
        "queue": "documents", "kinds": ["ingest_version"], "lane": "chat", "limit": BATCH, "worker": "kwame",
        "lease_seconds": 30,
    }  # fmt: skip
    assert most_rows_read(statement("claim"), values) <= 2 * BATCH


def test_a_claim_of_a_partition_reads_as_many_rows_as_its_run(backlog: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO ingestion_checkpoint (partition) SELECT 'p-' || n FROM generate_series(1, 50) n")
        cursor.execute(
            "UPDATE ingestion_job SET queue = 'events', kind = 'apply_event', partition = 'p-' || (turn %% 50 + 1) "
            "WHERE state = 'queued'", []
        )  # fmt: skip
        cursor.execute("ANALYZE ingestion_job")
    assert most_rows_read(statement("lock_partitions"), {"queue": "events", "limit": 4}) <= 2 * 51
    values = {
        "partitions": ["p-1", "p-2"], "kinds": ["apply_event"], "run_length": 8, "limit": BATCH, "worker": "kwame",
        "lease_seconds": 30,
    }  # fmt: skip
    assert most_rows_read(statement("claim_partitions"), values) <= 2 * BATCH


def test_a_rescue_reads_what_runs_and_nothing_else(backlog: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_job SET state = 'running', worker = 'w', "
            "lease_until = now() + CASE WHEN turn <= 5 THEN interval '-1 second' ELSE interval '1 hour' END "
            "WHERE state = 'queued' AND turn <= 200"
        )
        cursor.execute("ANALYZE ingestion_job")
    # All that runs: an index on the lease's end would be written by every heartbeat.
    assert most_rows_read(statement("rescue"), {"limit": 500, "passed": 0}) <= 200


def test_an_admission_reads_no_history(backlog: int) -> None:
    values = {
        "queue": "documents", "kind": "ingest_version", "caller_id": backlog, "lane": "chat", "partition": None,
        "max_attempts": 5, "units": 1, "bytes": 1, "expires_at": None, "estimate_seconds": 1.0, "low_seconds": 1.0,
        "high_seconds": 1.0, "basis": "assumed", "jobs_ahead": 0, "request_id": "",
    }  # fmt: skip
    assert most_rows_read(statement("insert_job"), values) <= BATCH


def test_a_settlement_reads_its_own_row(backlog: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ingestion_queuestate SET jobs = 9, units = 99, bytes = 999")
        cursor.execute("SELECT id FROM ingestion_job WHERE state = 'queued' LIMIT 1")
        job_id = cursor.fetchone()[0]
        cursor.execute(
            "UPDATE ingestion_job SET state = 'running', generation = 1, lease_until = now() WHERE id = %s", [job_id]
        )
    values = {"id": job_id, "generation": 1, "state": "succeeded", "error_code": "", "error_detail": ""}
    # The depth's table has a row a queue and is read whole.
    assert most_rows_read(statement("finish"), values) <= BATCH


@pytest.mark.usefixtures("backlog")
def test_the_numbers_of_a_queue_read_no_finished_job() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_job SET state = CASE WHEN turn <= 100 THEN 'queued' ELSE 'dead_letter' END, "
            "finished_at = CASE WHEN turn > 100 THEN now() END WHERE state = 'queued' AND turn <= 200"
        )
        cursor.execute("UPDATE ingestion_job SET state = 'succeeded', finished_at = now() WHERE turn > 200")
        cursor.execute("ANALYZE ingestion_job")
    with CaptureQueriesContext(connection) as asked:
        found = standing.counts("documents")
    assert (found["queued"], found["dead_letters"]) == (100, 100)
    (query,) = asked.captured_queries
    assert most_rows_read(query["sql"], {}) <= 200


def run_some(count: int) -> tuple[list[Any], list[int]]:
    """So many queued jobs of the backlog run; their ids and generations."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ingestion_queuestate SET jobs = 99, units = 9999, bytes = 99999")
        cursor.execute(
            "UPDATE ingestion_job SET state = 'running', generation = 1, lease_until = now() WHERE id IN "
            "(SELECT id FROM ingestion_job WHERE state = 'queued' LIMIT %s) RETURNING id", [count]
        )  # fmt: skip
        ids = [row[0] for row in cursor.fetchall()]
    return ids, [1] * count


@pytest.mark.usefixtures("backlog")
@pytest.mark.parametrize("verb", ["finish_together", "give_back_together"])
def test_settling_together_reads_its_own_rows(verb: str) -> None:
    ids, generations = run_some(BATCH)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ingestion_job SET attempt = 1 WHERE state = 'running'")
    assert most_rows_read(statement(verb), {"ids": ids, "generations": generations}) <= 2 * BATCH


@pytest.mark.django_db
def test_no_index_is_written_by_a_heartbeat() -> None:
    """What `extend` sets stands in no index, nor in the condition of one: so the row is changed in place."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'ingestion_job'")
        assert not [definition for (definition,) in cursor.fetchall() if "lease_until" in definition]


@pytest.mark.parametrize("function", ["look", "ahead", "save"])
def test_the_functions_of_admission_read_no_history_and_no_backlog(backlog: int, function: str) -> None:
    """Counted by the table's own statistics: a plan inside a function is not shown."""
    calls = {
        "look": "SELECT ingestion_look_event('documents', 'none', 'p', 'e', 9999, 99999999, 99999999, true)",
        "ahead": f"SELECT ingestion_ahead('documents', {backlog})",
        "save": f"SELECT ingestion_save_event('documents', {backlog}, 'p', 'e', 'answer.rated', 'p', now(), NULL, "
        "'{}', 'h', 1, 1, 1.0, 1.0, 1.0, 'assumed', 0, '', 5, 99999, 99999999, 99999999, 'c', 0)",
    }
    read = """
    SELECT pg_stat_get_xact_tuples_returned('ingestion_job'::regclass)
         + pg_stat_get_xact_tuples_fetched('ingestion_job'::regclass)
    """
    with connection.cursor() as cursor:
        cursor.execute(read)
        before = cursor.fetchone()[0]
        cursor.execute(calls[function])
        cursor.execute(read)
        assert cursor.fetchone()[0] - before <= BATCH
