"""What the database says about the jobs of a pass and the calls that they made, read-only."""

from typing import Any

from loadtests.faults_product import Stage

JOBS = """
SELECT job.id::text, job.state, job.attempt, job.units,
       extract(epoch FROM job.queued_at)::float8, extract(epoch FROM job.started_at - job.queued_at)::float8,
       extract(epoch FROM job.finished_at - job.queued_at)::float8, job.waited_seconds,
       job.estimate_seconds, job.estimate_low_seconds, job.estimate_high_seconds, job.estimate_basis, job.generation
FROM ingestion_job AS job WHERE job.queue = %s AND job.queued_at >= %s ORDER BY job.sequence
"""
JOB_NAMES = (
    "job", "state", "attempt", "units", "queued_at", "start_seconds", "result_seconds", "waited_seconds",
    "estimate_seconds", "estimate_low_seconds", "estimate_high_seconds", "estimate_basis", "generation",
)  # fmt: skip
CALLS = """
SELECT call.job_id::text, call.lane, call.purpose, call.step, call.outcome, call.status, call.inputs,
       call.prompt_tokens, call.completion_tokens, call.cost_usd::float8,
       extract(epoch FROM call.started_at)::float8, extract(epoch FROM call.finished_at - call.started_at)::float8
FROM ingestion_providercall AS call WHERE call.started_at >= %s ORDER BY call.id
"""
CALL_NAMES = (
    "job", "lane", "purpose", "step", "outcome", "status", "inputs", "prompt_tokens", "completion_tokens", "cost_usd",
    "started_at", "seconds",
)  # fmt: skip
Row = dict[str, Any]


def now_of(stage: Stage) -> Any:
    """The database's own clock."""
    return stage.rows("SELECT clock_timestamp()")[0][0]


def jobs_since(stage: Stage, moment: Any, queue: str) -> list[Row]:
    """Every job that was accepted since, in the order of acceptance."""
    return [dict(zip(JOB_NAMES, row, strict=True)) for row in stage.rows(JOBS, queue, moment)]


def calls_since(stage: Stage, moment: Any) -> list[Row]:
    """Every provider call since, by the product's own ledger."""
    return [dict(zip(CALL_NAMES, row, strict=True)) for row in stage.rows(CALLS, moment)]
