-- Guarantee: exactly the returned claims are still ours and hold their lease for another while.
UPDATE ingestion_job AS job
SET lease_until = now() + make_interval(secs => %(lease_seconds)s)
FROM unnest(%(ids)s::uuid[], %(generations)s::bigint[]) AS held(id, generation)
WHERE job.id = held.id AND job.generation = held.generation AND job.state = 'running'
RETURNING job.id
