-- Guarantee: each returned job has succeeded once, only under the generation that was claimed, and all their places are
-- free in the same commit. A pair that is missing from the answer is a lost claim, and nothing of it changed; the
-- caller undoes the transaction, so that no effect stays without its settlement.
-- Locked in the order of ids, as `extend` and `cancel` do. The depth's row comes last, behind the history (`noted`
-- is read for that alone): every admission and settlement of the queue meets there.
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
    SET state = 'succeeded', finished_at = now(), lease_until = NULL, waiting_for = NULL, waiting_since = NULL,
        error_code = '', error_detail = ''
    FROM held
    WHERE job.id = held.id
    RETURNING job.id, job.queue, job.generation, job.attempt, job.worker, job.units, job.bytes
), noted AS (
    INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
    SELECT id, generation, attempt, 'succeeded', '', worker FROM settled
    ON CONFLICT (job_id, generation) DO NOTHING
    RETURNING job_id
), freed AS (
    UPDATE ingestion_queuestate AS depth
    SET jobs = depth.jobs - gone.jobs, units = depth.units - gone.units, bytes = depth.bytes - gone.bytes
    FROM (
        SELECT queue, count(*) AS jobs, sum(units) AS units, sum(bytes) AS bytes FROM settled GROUP BY queue
    ) AS gone, (SELECT count(*) AS rows FROM noted) AS history
    WHERE depth.queue = gone.queue AND history.rows >= 0
)
SELECT id FROM settled
