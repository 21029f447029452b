"""What the product can carry: each limit in jobs a minute, the first one, and what follows for bound and connections.

Arithmetic over a few numbers, each measured where there is something to measure, else assumed and said to be.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from ingestion import estimates, worker
from ingestion.corpus import corpus_documents
from ingestion.pipeline.chunking import chunk_text
from ingestion.pipeline.tokens import count_tokens
from ingestion.provider import pacing

# Fewer finished jobs say nothing about the next ones.
SAMPLE_MIN = 5
# Of a worker: its pool, and the listener beside it.
CONNECTIONS_A_WORKER = worker.POOL_MAX + 1
# Migrations, psql, commands.
CONNECTIONS_RESERVE = 10

# Times of calls, because a job holds its slot only while it runs: waiting for quota is free.
JOBS = """
WITH jobs AS (
    SELECT job.id,
           count(call.id) FILTER (WHERE call.lane = 'chat') AS chats,
           coalesce(sum(call.prompt_tokens) FILTER (WHERE call.lane = 'embeddings'), 0) AS tokens,
           coalesce(sum(extract(epoch FROM call.finished_at - call.started_at)), 0)::float8 AS seconds
    FROM (
        SELECT id FROM ingestion_job WHERE queue = 'documents' AND state = 'succeeded'
        ORDER BY finished_at DESC LIMIT 1000
    ) AS job
    LEFT JOIN ingestion_providercall AS call ON call.job_id = job.id AND call.outcome = 'ok'
    GROUP BY job.id
)
SELECT count(*), avg(chats)::float8, avg(tokens)::float8, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM jobs
"""
SLOTS = """
SELECT count(*), coalesce(sum(concurrency), 0) FROM ingestion_worker
WHERE 'documents' = ANY(string_to_array(queues, ',')) AND seen_at > now() - make_interval(secs => %s)
"""


@dataclass(frozen=True)
class OneJob:
    """What a document job needs on average; `basis` is measured or assumed."""

    jobs: int
    chat_requests: float
    embedding_tokens: float
    seconds: float
    basis: str


@dataclass(frozen=True)
class Limit:
    """One limit and the arithmetic that gives it, in words."""

    name: str
    jobs_per_minute: float
    arithmetic: str


@dataclass(frozen=True)
class Capacity:
    """`honest_bound` is None where no wait is promised. Connections: wanted by all processes, allowed by the server."""

    limits: list[Limit]
    first: Limit
    honest_bound: int | None
    configured_bound: int
    bound_arithmetic: str
    connections: int
    max_connections: int
    connections_arithmetic: str

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.honest_bound is not None and self.configured_bound > self.honest_bound:
            found.append(
                f"DOCUMENTS_QUEUE_MAX is {self.configured_bound}: the last in a full queue would wait longer than "
                f"PROMISED_WAIT_SECONDS; at most {self.honest_bound} keeps the promise."
            )
        if self.connections > self.max_connections:
            found.append(f"{self.connections} connections are wanted, the server allows {self.max_connections}.")
        return found

    def numbers(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "first": self.first.name, "warnings": self.warnings}


def compute(*, api_processes: int, workers: int | None = None) -> Capacity:
    """The limits under the present settings; `workers` None: those that are live, or one."""
    one = _one_job()
    live, slots = _slots()
    if workers is not None or not live:
        live, slots = workers or 1, (workers or 1) * settings.WORKER_CONCURRENCY
    limits = [*_provider_limits(one), _worker_limit(one, live, slots)]
    first = min(limits, key=lambda limit: limit.jobs_per_minute)
    promised = settings.PROMISED_WAIT_SECONDS
    honest = math.floor(promised * first.jobs_per_minute / 60) if promised else None
    wanted = api_processes * settings.DATABASE_POOL_MAX + live * CONNECTIONS_A_WORKER + CONNECTIONS_RESERVE
    return Capacity(
        limits=limits,
        first=first,
        honest_bound=honest,
        configured_bound=settings.DOCUMENTS_QUEUE_MAX,
        bound_arithmetic=f"PROMISED_WAIT_SECONDS {promised:g} × {first.jobs_per_minute:.1f} jobs a minute / 60",
        connections=wanted,
        max_connections=_max_connections(),
        connections_arithmetic=(
            f"{api_processes} API processes × {settings.DATABASE_POOL_MAX} + {live} workers × {CONNECTIONS_A_WORKER} "
            f"+ {CONNECTIONS_RESERVE} in reserve"
        ),
    )


def _provider_limits(one: OneJob) -> list[Limit]:
    """What the provider grants, if no question is asked: the questions' share is kept for them, not taken away."""
    gate = pacing.gate()
    chat, tokens = gate.chat.limit_per_minute, gate.embeddings.limit_per_minute
    return [
        Limit(
            "chat quota",
            chat / max(one.chat_requests, 0.01),
            f"{chat} requests a minute / {one.chat_requests:.2f} a job ({one.basis})",
        ),
        Limit(
            "embeddings quota",
            tokens / max(one.embedding_tokens, 1.0),
            f"{tokens} tokens a minute / {one.embedding_tokens:.0f} a job ({one.basis})",
        ),
    ]


def _worker_limit(one: OneJob, workers: int, slots: int) -> Limit:
    return Limit(
        "workers",
        60 * slots / max(one.seconds, 0.01),
        f"{workers} workers with {slots} slots / {one.seconds:.2f} s of a job ({one.basis}) × 60",
    )


def _one_job() -> OneJob:
    with connection.cursor() as cursor:
        cursor.execute(JOBS)
        jobs, chats, tokens, seconds = cursor.fetchone()
    if jobs >= SAMPLE_MIN:
        return OneJob(jobs, chats, tokens, seconds, f"measured over {jobs} jobs")
    return OneJob(jobs, 1.0, corpus_tokens(), estimates.SERVICE_SECONDS, "assumed from the project's policies")


def corpus_tokens() -> float:
    """Mean tokens that a policy's chunks have, with what stands before each when it is embedded."""
    texts = corpus_documents().values()
    return sum(_tokens(text) for text in texts) / len(texts)


def _tokens(text: str) -> int:
    spans = chunk_text(text, media_type="text/markdown")
    return sum(count_tokens(span.embedding_prefix + text[span.start : span.end]) for span in spans)


def _slots() -> tuple[int, int]:
    """Live workers of the documents queue and their slots."""
    with connection.cursor() as cursor:
        cursor.execute(SLOTS, [max(2.0, 3 * settings.HEARTBEAT_SECONDS)])
        workers, slots = cursor.fetchone()
    return int(workers), int(slots)


def _max_connections() -> int:
    """What the server gives to those who are no superuser."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int "
            "- current_setting('reserved_connections')::int"
        )
        return int(cursor.fetchone()[0])
