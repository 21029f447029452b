-- Guarantee: of each given partition (locked by `lock_partitions` in this transaction) the next ready jobs in order of
-- acceptance, none behind one that is not ready or that somebody holds (a cancel that may be undone), and none while
-- another of the partition runs.
WITH line AS MATERIALIZED (
    SELECT job.id,
           bool_and(job.state = 'queued' AND job.ready_at <= now() AND job.kind = ANY(%(kinds)s))
               OVER line_of AS is_free,
           count(*) FILTER (WHERE job.expires_at IS NULL OR job.expires_at > now()) OVER line_of AS place
    FROM unnest(%(partitions)s::text[]) AS wanted(partition)
    CROSS JOIN LATERAL (
        SELECT live.id, live.partition, live.sequence, live.state, live.ready_at, live.kind, live.expires_at
        FROM ingestion_job AS live
        WHERE live.partition = wanted.partition AND live.state IN ('queued', 'running')
        ORDER BY live.sequence
        LIMIT %(run_length)s
    ) AS job
    WINDOW line_of AS (PARTITION BY job.partition ORDER BY job.sequence)
), held AS MATERIALIZED (
    -- By their ids as one array, so that no plan reads the table for them.
    SELECT job.id, job.partition
    FROM ingestion_job AS job
    WHERE job.id = ANY(ARRAY(SELECT line.id FROM line WHERE line.is_free))
      AND job.state = 'queued' AND (job.expires_at IS NULL OR job.expires_at > now())
    ORDER BY job.sequence
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
), picked AS (
    -- Where a place is missing, its row was skipped: what stands behind it waits for it.
    SELECT id FROM (
        SELECT held.id, line.place, row_number() OVER (PARTITION BY held.partition ORDER BY line.place) AS nth
        FROM held JOIN line ON line.id = held.id
    ) AS numbered
    WHERE place = nth
)
UPDATE ingestion_job AS job
SET state = 'running',
    generation = job.generation + 1,
    -- A budget that was cut by hand must not make the row break every claim.
    attempt = least(job.attempt + 1, job.max_attempts),
    lease_until = now() + make_interval(secs => %(lease_seconds)s),
    started_at = COALESCE(job.started_at, now()),
    worker = %(worker)s,
    waiting_for = NULL,
    waiting_since = NULL
FROM picked
WHERE job.id = picked.id
RETURNING job.id, job.queue, job.kind, job.generation, job.attempt, job.max_attempts,
          job.partition, job.sequence, job.caller_id, job.request_id
