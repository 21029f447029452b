-- Guarantee: the job reaches its terminal state once, only under the generation that was claimed, and its place in the
-- bound is free in the same commit. No row returned: the claim is lost and nothing changed.
WITH settled AS (
    UPDATE ingestion_job
    SET state = %(state)s, finished_at = now(), lease_until = NULL, waiting_for = NULL, waiting_since = NULL,
        error_code = %(error_code)s, error_detail = %(error_detail)s
    WHERE id = %(id)s AND generation = %(generation)s AND state = 'running'
    RETURNING id, queue, generation, attempt, worker, units, bytes
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
    SELECT id, generation, attempt, %(state)s, %(error_detail)s, worker FROM settled
    ON CONFLICT (job_id, generation) DO NOTHING
)
UPDATE ingestion_queuestate AS depth
SET jobs = depth.jobs - 1, units = depth.units - settled.units, bytes = depth.bytes - settled.bytes
FROM settled
WHERE depth.queue = settled.queue
RETURNING settled.id
