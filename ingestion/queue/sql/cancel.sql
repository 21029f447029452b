-- Guarantee: the given jobs that still wait (or, with `running_too`, also run) are cancelled under a new generation, so
-- that a worker which runs one loses its claim; their places are free in the same commit.
WITH due AS MATERIALIZED (
    SELECT id FROM ingestion_job
    WHERE id = ANY(%(ids)s) AND (state = 'queued' OR (%(running_too)s AND state = 'running'))
    ORDER BY id
    FOR NO KEY UPDATE
), settled AS (
    UPDATE ingestion_job AS job
    SET state = 'cancelled', finished_at = now(), lease_until = NULL, generation = job.generation + 1,
        waiting_for = NULL, waiting_since = NULL, error_code = %(error_code)s, error_detail = %(error_detail)s
    FROM due
    WHERE job.id = due.id
    RETURNING job.id, job.queue, job.generation, job.attempt, job.worker, job.units, job.bytes
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
    SELECT id, generation, attempt, 'cancelled', %(error_detail)s, worker FROM settled
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
