-- Guarantee: only jobs whose lease has run out are touched, and only if they still run under the lease that was read;
-- the try stays charged. With the budget spent the job becomes a dead letter and its place is free.
-- `passed`: so many that can't be written stand before, and are left as they are.
WITH stale AS MATERIALIZED (
    SELECT id, attempt >= max_attempts AS is_spent
    FROM ingestion_job
    WHERE state = 'running' AND lease_until < now()
    ORDER BY lease_until, id
    LIMIT %(limit)s OFFSET %(passed)s
    FOR NO KEY UPDATE SKIP LOCKED
), settled AS (
    UPDATE ingestion_job AS job
    SET state = CASE WHEN stale.is_spent THEN 'dead_letter' ELSE 'queued' END,
        finished_at = CASE WHEN stale.is_spent THEN now() END,
        lease_until = NULL, ready_at = now(), waiting_for = NULL, waiting_since = NULL,
        error_code = 'lease_expired',
        error_detail = 'The worker ' || job.worker || ' did not finish before its lease ended.'
    FROM stale
    WHERE job.id = stale.id
    RETURNING job.id, job.queue, job.generation, job.attempt, job.worker, job.state, job.units, job.bytes
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
    SELECT id, generation, attempt, CASE state WHEN 'dead_letter' THEN state ELSE 'lease_expired' END,
           'lease expired', worker
    FROM settled
    ON CONFLICT (job_id, generation) DO NOTHING
), freed AS (
    UPDATE ingestion_queuestate AS depth
    SET jobs = depth.jobs - gone.jobs, units = depth.units - gone.units, bytes = depth.bytes - gone.bytes
    FROM (
        SELECT queue, count(*) AS jobs, sum(units) AS units, sum(bytes) AS bytes
        FROM settled WHERE state = 'dead_letter' GROUP BY queue
    ) AS gone
    WHERE depth.queue = gone.queue
)
SELECT id, state, worker FROM settled
