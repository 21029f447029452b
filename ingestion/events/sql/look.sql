-- Guarantee: one snapshot without a lock of whether the queue has a place, of what is ahead of this caller's next job, and of each
-- given identity: who owns its producer, and the committed event that has it. Whoever sees the depth that an admission
-- left sees its events too, so a replay is never taken for a new event in a full queue.
-- What is ahead is counted only while there is a place; a full queue is refused without that count.
WITH depth AS MATERIALIZED (
    SELECT is_draining,
           NOT is_draining AND jobs < %(max_jobs)s AND units < %(max_units)s AND bytes < %(max_bytes)s AS has_place
    FROM ingestion_queuestate WHERE queue = %(queue)s
), mine AS MATERIALIZED (
    SELECT greatest(
        (SELECT min(turn) FROM ingestion_job WHERE queue = %(queue)s AND state = 'queued'),
        1 + (SELECT max(turn) FROM ingestion_job
             WHERE queue = %(queue)s AND caller_id = %(caller)s AND state IN ('queued', 'running')),
        0
    ) AS turn
    FROM depth WHERE depth.has_place
), ahead AS MATERIALIZED (
    SELECT count(*) AS jobs, coalesce(sum(job.units), 0)::bigint AS units
    FROM mine JOIN ingestion_job AS job
      ON job.queue = %(queue)s AND job.state IN ('queued', 'running')
     AND (job.state = 'running' OR job.turn <= mine.turn)
)
SELECT depth.is_draining, depth.has_place, now(), ahead.jobs, ahead.units,
       wanted.producer, wanted.event_id, owner.caller_id, event.payload_hash, event.job_id, job.state
FROM depth CROSS JOIN ahead
CROSS JOIN unnest(%(producers)s::text[], %(event_ids)s::text[]) AS wanted(producer, event_id)
LEFT JOIN ingestion_producerowner AS owner ON owner.producer = wanted.producer
LEFT JOIN ingestion_eventrecord AS event ON event.producer = wanted.producer AND event.event_id = wanted.event_id
LEFT JOIN ingestion_job AS job ON job.id = event.job_id
