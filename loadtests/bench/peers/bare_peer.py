"""The bare database: a psycopg loop claims ten with SKIP LOCKED and settles them in one statement. No product.

It has no retries, no lease, no fence, no order, no bound and no results: what PostgreSQL and one connection can do.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

BATCH = 10
TABLES = """
CREATE TABLE bare_job (
    id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'queued', sent float8, ready_at timestamptz DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, finished_at timestamptz
);
CREATE INDEX bare_claim ON bare_job (ready_at, id) WHERE state = 'queued';
CREATE INDEX bare_live ON bare_job (id) WHERE state IN ('queued', 'running')
"""
CLAIM = """
WITH picked AS MATERIALIZED (
    SELECT id FROM bare_job WHERE state = 'queued' AND ready_at <= now()
    ORDER BY ready_at, id LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE bare_job SET state = 'running', started_at = now() FROM picked WHERE bare_job.id = picked.id
RETURNING bare_job.id, sent
"""
SETTLE = "UPDATE bare_job SET state = 'done', finished_at = now() WHERE id = ANY(%s) AND state = 'running'"
WAIT_SECONDS = 1.0


def _connect() -> "psycopg.Connection[tuple[int, float | None]]":
    return psycopg.connect(program.DATABASE_URL, autocommit=True)


def prepare() -> None:
    with _connect() as own:
        own.execute(TABLES)


def fill(count: int) -> None:
    with _connect() as own:
        own.execute("INSERT INTO bare_job SELECT FROM generate_series(1, %s)", [count])


@contextmanager
def sending() -> Iterator[Send]:
    with _connect() as own:
        yield lambda sent: own.execute(
            "WITH made AS (INSERT INTO bare_job (sent) VALUES (%s)) SELECT pg_notify('bare', '')", [sent]
        )


def work() -> None:
    signal.signal(signal.SIGTERM, lambda *_: exit(0))
    with _connect() as own:
        own.execute("LISTEN bare")
        while True:
            claimed = own.execute(CLAIM, [BATCH]).fetchall()
            for _, sent in claimed:
                program.stamp(sent)
            if claimed:
                own.execute(SETTLE, [[job for job, _ in claimed]])
            else:
                next(own.notifies(timeout=WAIT_SECONDS, stop_after=1), None)


PROGRAM = Program(prepare, fill, work, sending)
