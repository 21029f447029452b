-- Guarantee: every number of one snapshot, of one caller or (null) of all: the accepted events by what became of them,
-- and what was offered without leaving an event. `accepted` counts events, the states count their jobs.
SELECT accepted.*, refused.*
FROM (
    SELECT count(*) AS accepted,
           count(*) FILTER (WHERE job.state = 'succeeded') AS completed,
           count(*) FILTER (WHERE job.state = 'queued') AS queued,
           count(*) FILTER (WHERE job.state = 'running') AS running,
           count(*) FILTER (WHERE job.state IN ('dead_letter', 'failed')) AS quarantined,
           count(*) FILTER (WHERE job.state = 'expired') AS expired,
           count(*) FILTER (WHERE job.state = 'cancelled') AS cancelled
    FROM ingestion_eventrecord AS event LEFT JOIN ingestion_job AS job ON job.id = event.job_id
    WHERE %(caller)s::bigint IS NULL OR event.caller_id = %(caller)s::bigint
) AS accepted, (
    SELECT coalesce(sum(replayed), 0)::bigint AS replayed, coalesce(sum(rejected), 0)::bigint AS rejected,
           coalesce(sum(invalid), 0)::bigint AS invalid, coalesce(sum(conflict), 0)::bigint AS conflict
    FROM ingestion_intakecount
    WHERE %(caller)s::bigint IS NULL OR caller_id = %(caller)s::bigint
) AS refused
