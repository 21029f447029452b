"""What the bench asks of whoever takes part, and the peers as a table: read it to know who, with which settings."""

from dataclasses import dataclass
from typing import Protocol


class Contestant(Protocol):
    """A queue that is filled, worked empty by a worker of its own, and looked at from outside."""

    name: str
    title: str
    # Jobs a second that a first, uncounted pass expects.
    guess: int
    look_seconds: float
    # Settings of which the first pass keeps the fastest.
    variants: tuple[str, ...]

    def choose(self, variant: str) -> None: ...

    def fill(self, count: int) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def left(self) -> int:
        """Jobs that are not finished."""
        ...

    def moments(self, count: int) -> list[float]:
        """When the newest jobs were finished, where looks from outside would be too dear; empty where not."""
        ...

    def fallen(self) -> str:
        """The last lines of a worker that has ended by itself; empty while all run."""
        ...

    def trickle(self, count: int) -> "Waits": ...


@dataclass(frozen=True)
class Waits:
    """Milliseconds of jobs that each found an idle worker. `claimed`: from accepted to claimed by the queue's own
    rows (empty where it keeps none); `ran`: from before it was sent to its handler, by one clock."""

    claimed: list[float]
    ran: list[float]


@dataclass(frozen=True)
class Peer:
    """`left` counts its unfinished jobs; `claimed` selects its newest waits in ms; both are None on Valkey."""

    name: str
    title: str
    guess: int
    settings: str
    leaves_out: str
    left: str | None = None
    claimed: str | None = None
    # Selects the moments at which its newest jobs were finished, where looks would be too dear.
    finished: str | None = None
    # Where its best is not known beforehand, the first pass tries each and keeps the fastest.
    variants: tuple[str, ...] = ("",)
    processes: int = 1
    # On Valkey: the server's settings.
    log: str | None = None
    look_seconds: float = 0.1


DURABLE_LOG, NO_LOG = "always", "no"

PEERS = (
    Peer(
        "bare", "bare database, claim ten, settle ten", 6000,
        "one psycopg connection, SKIP LOCKED, ten a claim, one settlement for ten",
        "No retries, lease, fence, order, bound, caller or result: a killed loop leaves ten rows running.",
        left="SELECT count(*) FROM bare_job WHERE state IN ('queued', 'running')",
        claimed="SELECT extract(epoch FROM started_at - created_at)::float8 * 1000 FROM bare_job "
        "WHERE sent IS NOT NULL ORDER BY id DESC LIMIT %s",
    ),
    Peer(
        "procrastinate", "procrastinate", 700,
        "one asynchronous worker, LISTEN/NOTIFY, jobs and their events kept; the faster of concurrency 1 and 16",
        "No bound, no fence: a stalled job is run again only when somebody's code asks for it.",
        left="SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
        claimed="SELECT extract(epoch FROM started.at - deferred.at)::float8 * 1000 "
        "FROM procrastinate_events AS started JOIN procrastinate_events AS deferred USING (job_id) "
        "WHERE started.type = 'started' AND deferred.type = 'deferred' ORDER BY started.id DESC LIMIT %s",
        variants=("1", "16"),
    ),
    Peer(
        "django_tasks_db", "django-tasks-db", 500,
        "two workers (each runs one task at a time), results kept; `--interval 1`, its default",
        "No retries, no lease: a task whose worker was killed stays RUNNING. It polls, nothing wakes it.",
        left="SELECT count(*) FROM django_tasks_database_dbtaskresult WHERE status IN ('READY', 'RUNNING')",
        claimed="SELECT extract(epoch FROM started_at - enqueued_at)::float8 * 1000 "
        "FROM django_tasks_database_dbtaskresult WHERE started_at IS NOT NULL ORDER BY enqueued_at DESC LIMIT %s",
        processes=2,
    ),
    Peer(
        "celery_durable", "celery on Valkey, log synced always", 600,
        "prefork with a child a core, acks late, results ignored; Valkey with appendonly, appendfsync always",
        "Results are not kept; a job of a killed worker comes back after an hour (visibility timeout).",
        log=DURABLE_LOG,
    ),
    Peer(
        "celery", "celery on Valkey, no log", 1000,
        "the same with a Valkey that writes nothing to disk",
        "Not durable: what Valkey held is gone when it ends. Results are not kept.",
        log=NO_LOG,
    ),
    Peer(
        "dramatiq", "dramatiq on Valkey, no log", 3000,
        "one process of eight threads, results not kept; a Valkey that writes nothing to disk",
        "Not durable: what Valkey held is gone when it ends. Results are not kept.",
        log=NO_LOG,
    ),
    Peer(
        "pgqueuer", "pgqueuer, batch 10", 4000,
        "asyncpg, batch of ten, heartbeats and the log as by default",
        "Completions are buffered: what a crash finds in the buffer is run again. No fence, no bound.",
        left="SELECT count(*) FROM pgqueuer",
        claimed="SELECT extract(epoch FROM picked.created - queued.created)::float8 * 1000 FROM pgqueuer_log AS picked "
        "JOIN pgqueuer_log AS queued USING (job_id) WHERE picked.status = 'picked' AND queued.status = 'queued' "
        "ORDER BY picked.id DESC LIMIT %s",
    ),
    Peer(
        "awa", "awa-pg", 4000,
        "its queue storage, receipts on, retention as by default; the faster of 16 and 128 jobs at a time",
        "Handlers of one event loop; completions are batched by the engine. No bound on what is accepted.",
        # Its view of jobs takes long over a backlog: what is not claimed is read off its two sequences, and the pace
        # from the times of its finished rows.
        left="SELECT COALESCE(sum(CASE WHEN sequencename ~ '^queue_enqueue' THEN last_value ELSE -last_value END), 0) "
        "FROM pg_sequences WHERE schemaname = 'awa' AND sequencename ~ '^queue_(enqueue|claim)_seq'",
        finished="SELECT extract(epoch FROM finalized_at)::float8 FROM awa.terminal_jobs ORDER BY job_id DESC LIMIT %s",
        claimed="SELECT extract(epoch FROM attempted_at - created_at)::float8 * 1000 FROM awa.terminal_jobs "
        "ORDER BY job_id DESC LIMIT %s",
        variants=("16", "128"),
    ),
)  # fmt: skip
