-- Guarantee: each returned job is claimed by this caller alone, under a generation that nobody had before;
-- jobs that others lock are skipped, so claimers never wait for each other. The materialised CTE keeps
-- SKIP LOCKED's choice from being made twice. Order: turns of callers, then acceptance.
WITH picked AS MATERIALIZED (
    SELECT id
    FROM ingestion_job
    WHERE queue = %(queue)s AND state = 'queued' AND ready_at <= now()
      AND lane = %(lane)s AND kind = ANY(%(kinds)s) AND partition IS NULL
      AND (expires_at IS NULL OR expires_at > now())
    ORDER BY turn, sequence
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE ingestion_job AS job
SET state = 'running',
    generation = job.generation + 1,
    -- A budget that was cut by hand must not make the row break every claim.
    attempt = least(job.attempt + 1, job.max_attempts),
    lease_until = now() + make_interval(secs => %(lease_seconds)s),
    started_at = COALESCE(job.started_at, now()),
    worker = %(worker)s,
    waited_seconds = job.waited_seconds
        + COALESCE(extract(epoch FROM now() - job.waiting_since)::float8, 0),
    waiting_for = NULL,
    waiting_since = NULL
FROM picked
WHERE job.id = picked.id
RETURNING job.id, job.queue, job.kind, job.generation, job.attempt, job.max_attempts,
          job.partition, job.sequence, job.caller_id, job.request_id, job.lane
