"""Databases of the product that hold finished events already: rows as admission and settlement leave them."""

import sys
from collections.abc import Mapping
from subprocess import run
from typing import Any

import psycopg

from loadtests.installation import Installation
from loadtests.machine import ROOT

BATCH = 50_000
PARTITIONS = 64
# Finished over the days of the history that is kept, not within the hour by which the pace is measured.
FINISHED = """
WITH made AS (
    INSERT INTO ingestion_job (queue, kind, state, caller_id, partition, generation, attempt, max_attempts, units,
                               bytes, queued_at, ready_at, started_at, finished_at)
    SELECT 'events', 'apply_event', 'succeeded', %(caller)s, 'old-' || number %% %(partitions)s, 1, 1, 5, 1, 2,
           moment, moment, moment, moment + interval '1 second'
    FROM generate_series(1, %(count)s::int) AS number,
         LATERAL (SELECT now() - interval '1 day' - interval '20 days' * random() AS moment) AS at
    RETURNING id, sequence, partition, finished_at
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, at)
    SELECT id, 1, 1, 'succeeded', finished_at FROM made
), recorded AS (
    INSERT INTO ingestion_eventrecord (producer, event_id, caller_id, type, partition, occurred_at, payload,
                                       payload_hash, job_id, received_at)
    SELECT 'history', 'h-' || sequence, %(caller)s, 'bench.noop', partition, finished_at, '{}', 'none', id, finished_at
    FROM made
    RETURNING id
), passed AS (
    INSERT INTO ingestion_checkpoint (partition, last_applied)
    SELECT partition, max(sequence) FROM made GROUP BY partition
    ON CONFLICT (partition) DO UPDATE SET last_applied = EXCLUDED.last_applied
)
INSERT INTO ingestion_eventeffect (event_id, generation) SELECT id, 1 FROM recorded
"""
OWNED = (
    "INSERT INTO ingestion_producerowner (producer, caller_id) VALUES ('history', %s) ON CONFLICT (producer) DO NOTHING"
)


def prepare(stage: Installation, name: str) -> str:
    """The address of a new database with the product's tables and no row."""
    with psycopg.connect(stage.database_url, autocommit=True) as own:
        own.execute(f'CREATE DATABASE "{name}"'.encode())
    address = stage.database_url.replace("/larkfield?", f"/{name}?")
    with psycopg.connect(address, autocommit=True) as own:
        own.execute("CREATE EXTENSION IF NOT EXISTS vector")
    manage(stage, {"DATABASE_URL": address}, "migrate", "--verbosity", "0")
    return address


def manage(stage: Installation, changes: Mapping[str, str], *arguments: str) -> str:
    """What a command of the product prints under changed settings."""
    done = run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=stage.environment | dict(changes), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"manage.py {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def reconcile(stage: Installation, address: str) -> dict[str, Any]:
    """The rules of another database than the stage's own."""
    kept = stage.environment
    try:
        stage.environment = kept | {"DATABASE_URL": address}
        return stage.reconcile()
    finally:
        stage.environment = kept


def finish(address: str, count: int) -> None:
    """`count` more events have been applied, days ago; the planner knows of them."""
    with psycopg.connect(address, autocommit=True) as own:
        row = own.execute("SELECT id FROM ingestion_caller ORDER BY id LIMIT 1").fetchone()
        assert row is not None
        own.execute(OWNED, row)
        for start in range(0, count, BATCH):
            part = min(BATCH, count - start)
            own.execute(FINISHED, {"caller": row[0], "count": part, "partitions": PARTITIONS})
        own.execute("VACUUM ANALYZE")
