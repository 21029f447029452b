-- Guarantee: of the given new events the first ones that the bound has places for are saved, each with its job, its
-- producer's owner and its partition's checkpoint, and the depth counts them: all in this one statement, or nothing.
-- An identity or a producer that another transaction took meanwhile is a unique violation: nothing is saved.
-- The depth's row is locked first, not last: the statement is its own transaction, so the lock is held for no round
-- trip, and sequences are drawn under it, so that the order of acceptance is the order of commits. A worker that sees
-- an event of a partition therefore sees all that were accepted before it.
-- A full or draining queue takes no lock: the snapshot's row already fails the check.
WITH offered AS MATERIALIZED (
    SELECT event.*,
           sum(event.units) OVER (ORDER BY event.n) AS units_so_far,
           sum(event.bytes) OVER (ORDER BY event.n) AS bytes_so_far
    FROM unnest(
        %(producers)s::text[], %(event_ids)s::text[], %(types)s::text[], %(partitions)s::text[],
        %(occurred)s::timestamptz[], %(expires)s::timestamptz[], %(payloads)s::text[], %(hashes)s::text[],
        %(units)s::bigint[], %(bytes)s::bigint[], %(waits)s::float8[], %(lows)s::float8[], %(highs)s::float8[],
        %(ahead)s::int[]
    ) WITH ORDINALITY AS event(
        producer, event_id, type, partition, occurred_at, expires_at, payload, payload_hash,
        units, bytes, wait_seconds, low_seconds, high_seconds, jobs_ahead, n
    )
), place AS MATERIALIZED (
    SELECT jobs, units, bytes
    FROM ingestion_queuestate
    WHERE queue = %(queue)s AND NOT is_draining AND jobs < %(max_jobs)s
    FOR NO KEY UPDATE
), chosen AS MATERIALIZED (
    SELECT offered.*, uuidv7() AS job_id
    FROM offered CROSS JOIN place
    WHERE place.jobs + offered.n <= %(max_jobs)s
      AND place.units + offered.units_so_far <= %(max_units)s
      AND place.bytes + offered.bytes_so_far <= %(max_bytes)s
), taken AS (
    UPDATE ingestion_queuestate AS depth
    SET jobs = depth.jobs + added.jobs, units = depth.units + added.units, bytes = depth.bytes + added.bytes
    FROM (SELECT count(*) AS jobs, sum(units) AS units, sum(bytes) AS bytes FROM chosen) AS added
    WHERE depth.queue = %(queue)s AND added.jobs > 0
    RETURNING depth.jobs
), line AS MATERIALIZED (
    SELECT greatest(
        (SELECT min(turn) FROM ingestion_job WHERE queue = %(queue)s AND state = 'queued'),
        1 + (SELECT max(turn) FROM ingestion_job
             WHERE queue = %(queue)s AND caller_id = %(caller)s AND state IN ('queued', 'running')),
        0
    ) AS turn
), owned AS (
    INSERT INTO ingestion_producerowner (producer, caller_id)
    SELECT DISTINCT chosen.producer, %(caller)s::bigint FROM chosen
    WHERE NOT EXISTS (
        SELECT FROM ingestion_producerowner AS owner
        WHERE owner.producer = chosen.producer AND owner.caller_id = %(caller)s
    )
), opened AS (
    INSERT INTO ingestion_checkpoint (partition)
    SELECT DISTINCT chosen.partition FROM chosen
    WHERE NOT EXISTS (SELECT FROM ingestion_checkpoint AS known WHERE known.partition = chosen.partition)
    ORDER BY chosen.partition
    ON CONFLICT (partition) DO NOTHING
), queued AS (
    INSERT INTO ingestion_job (
        id, queue, kind, caller_id, turn, partition, max_attempts, units, bytes, expires_at,
        estimate_seconds, estimate_low_seconds, estimate_high_seconds, estimate_basis, jobs_ahead, request_id
    )
    SELECT chosen.job_id, %(queue)s, 'apply_event', %(caller)s, line.turn + chosen.n - 1, chosen.partition,
           %(max_attempts)s, chosen.units, chosen.bytes, chosen.expires_at, chosen.wait_seconds,
           chosen.low_seconds, chosen.high_seconds, %(basis)s, chosen.jobs_ahead, %(request_id)s
    FROM chosen CROSS JOIN line
    ORDER BY chosen.n
), saved AS (
    INSERT INTO ingestion_eventrecord (
        producer, event_id, caller_id, type, partition, occurred_at, payload, payload_hash, job_id
    )
    SELECT producer, event_id, %(caller)s, type, partition, coalesce(occurred_at, now()), payload::jsonb,
           payload_hash, job_id
    FROM chosen
    ORDER BY n
)
SELECT chosen.job_id, (SELECT pg_notify(%(channel)s, %(queue)s) FROM taken WHERE jobs <= %(notify_depth)s)
FROM chosen
ORDER BY chosen.n
