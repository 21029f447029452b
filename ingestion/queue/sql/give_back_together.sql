-- Guarantee: those of the given claims that are still ours are queued again at once, their tries returned, each with
-- its history; the bound is unchanged. Locked in the order of ids, as `extend` and `cancel` do.
WITH held AS MATERIALIZED (
    SELECT job.id
    FROM ingestion_job AS job
    JOIN unnest(%(ids)s::uuid[], %(generations)s::bigint[]) AS claimed(id, generation)
      ON job.id = claimed.id AND job.generation = claimed.generation
    WHERE job.state = 'running'
    ORDER BY job.id
    FOR NO KEY UPDATE OF job
), settled AS (
    UPDATE ingestion_job AS job
    SET state = 'queued', lease_until = NULL, attempt = job.attempt - 1, ready_at = now(),
        waiting_for = NULL, waiting_since = NULL, error_code = '', error_detail = ''
    FROM held
    WHERE job.id = held.id
    RETURNING job.id, job.generation, job.attempt, job.worker
)
INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
SELECT id, generation, attempt, 'give_back', '', worker FROM settled
ON CONFLICT (job_id, generation) DO UPDATE SET at = now()
RETURNING job_id
