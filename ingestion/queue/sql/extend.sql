-- Guarantee: exactly the returned claims are still ours and hold their lease for another while. Locked in the order of
-- ids, as `cancel` does, so that a heartbeat and a document's deletion never wait for each other.
WITH held AS MATERIALIZED (
    SELECT job.id
    FROM ingestion_job AS job
    JOIN unnest(%(ids)s::uuid[], %(generations)s::bigint[]) AS claimed(id, generation)
      ON job.id = claimed.id AND job.generation = claimed.generation
    WHERE job.state = 'running'
    ORDER BY job.id
    FOR NO KEY UPDATE OF job
)
UPDATE ingestion_job AS job
SET lease_until = now() + make_interval(secs => %(lease_seconds)s)
FROM held
WHERE job.id = held.id AND job.state = 'running'
RETURNING job.id
