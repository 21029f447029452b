-- Guarantee: queued jobs that match the reason's rule end in its state, and their places are free in the same commit;
-- jobs that a worker claims at this moment are skipped.
--   expired: the deadline passed before a worker came.
--   dead_letter: the job waited for the provider longer than MAX_WAIT_SECONDS in all.
-- `passed`: so many that can't be written stand before, and are left as they are.
WITH due AS MATERIALIZED (
    SELECT id
    FROM ingestion_job
    WHERE state = 'queued' AND (
        (%(state)s = 'expired' AND expires_at <= now())
        OR (%(state)s = 'dead_letter' AND waited_seconds + extract(epoch FROM now() - COALESCE(
                waiting_since,
                CASE WHEN queue = 'documents' AND %(blocked_since)s::timestamptz IS NOT NULL
                     THEN greatest(%(blocked_since)s::timestamptz, ready_at) END
            )) > %(max_wait_seconds)s)
    )
    ORDER BY id
    LIMIT %(limit)s OFFSET %(passed)s
    FOR NO KEY UPDATE SKIP LOCKED
), settled AS (
    UPDATE ingestion_job AS job
    SET state = %(state)s, finished_at = now(), generation = job.generation + 1,
        waiting_for = NULL, waiting_since = NULL,
        error_code = %(error_code)s, error_detail = %(error_detail)s
    FROM due
    WHERE job.id = due.id
    RETURNING job.id, job.queue, job.generation, job.attempt, job.units, job.bytes
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
    SELECT id, generation, attempt, %(state)s, %(error_detail)s, '' FROM settled
    ON CONFLICT (job_id, generation) DO NOTHING
), freed AS (
    UPDATE ingestion_queuestate AS depth
    SET jobs = depth.jobs - gone.jobs, units = depth.units - gone.units, bytes = depth.bytes - gone.bytes
    FROM (
        SELECT queue, count(*) AS jobs, sum(units) AS units, sum(bytes) AS bytes FROM settled GROUP BY queue
    ) AS gone
    WHERE depth.queue = gone.queue
)
SELECT id FROM settled
