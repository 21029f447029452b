"""How wrong the estimates were: what jobs were promised at admission beside what happened. Reads only."""

from dataclasses import dataclass

from django.db import connection

BUCKETS = ("0–9", "10–49", "50–99", "100+")

# A job that was revived waited for a person too, and counts for nothing; neither does a cancelled or expired one.
# A relative error is taken of at least one second: below that nobody waits.
QUERY = """
WITH measured AS (
    SELECT queue, estimate_basis AS basis, jobs_ahead, estimate_seconds AS promised, estimate_low_seconds AS low,
           estimate_high_seconds AS high, extract(epoch FROM finished_at - queued_at)::float8 AS actual
    FROM ingestion_job AS job
    WHERE state IN ('succeeded', 'failed') AND estimate_seconds IS NOT NULL AND NOT EXISTS (
        SELECT FROM ingestion_joboutcome AS outcome
        WHERE outcome.job_id = job.id AND outcome.outcome IN ('failed', 'dead_letter')
          AND outcome.generation < job.generation
    )
), placed AS (
    SELECT *, CASE WHEN jobs_ahead IS NULL THEN NULL WHEN jobs_ahead < 10 THEN '0–9' WHEN jobs_ahead < 50 THEN '10–49'
                   WHEN jobs_ahead < 100 THEN '50–99' ELSE '100+' END AS bucket
    FROM measured
)
SELECT queue, basis, bucket, count(*),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(actual - promised)),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(actual - promised) / greatest(actual, 1)),
       avg((actual BETWEEN low AND high)::int)::float8
FROM placed
GROUP BY GROUPING SETS ((queue), (queue, basis), (queue, bucket))
HAVING NOT (grouping(bucket) = 0 AND bucket IS NULL)
ORDER BY queue, grouping(basis) DESC, grouping(bucket) DESC, basis, min(jobs_ahead)
"""


@dataclass(frozen=True)
class Accuracy:
    """Median errors of a group of jobs, absolute in seconds and as a part of the actual time; the share inside.

    `basis` and `jobs_ahead` are None where the group is not cut by them.
    """

    queue: str
    basis: str | None
    jobs_ahead: str | None
    jobs: int
    error_seconds: float
    error_relative: float
    inside: float


def measure() -> list[Accuracy]:
    """For each queue: all its jobs, then by basis, then by how many jobs were ahead. Empty: nothing has finished."""
    with connection.cursor() as cursor:
        cursor.execute(QUERY)
        return [Accuracy(*row) for row in cursor.fetchall()]
