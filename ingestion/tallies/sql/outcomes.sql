-- Guarantee: each settlement with an id in (after, upto] is counted in this transaction, with the times of its job if
-- nobody settled the job again since. Reads as many rows as there are new ones, by primary keys.
-- A revived job waited for a person too: its times are left out, as `manage.py estimates` does.
WITH fresh AS MATERIALIZED (
    SELECT outcome.outcome, outcome.generation = job.generation AS is_latest, job.queue, job.state,
           job.queued_at, job.started_at, job.finished_at,
           job.estimate_seconds, job.estimate_low_seconds, job.estimate_high_seconds,
           EXISTS (
               SELECT FROM ingestion_joboutcome AS before
               WHERE before.job_id = outcome.job_id AND before.generation < outcome.generation
                 AND before.outcome IN ('failed', 'dead_letter')
           ) AS is_revived
    FROM ingestion_joboutcome AS outcome JOIN ingestion_job AS job ON job.id = outcome.job_id
    WHERE outcome.id > %(after)s AND outcome.id <= %(upto)s
), timed AS (
    SELECT *, extract(epoch FROM finished_at - queued_at)::float8 AS turnaround
    FROM fresh
    WHERE is_latest AND NOT is_revived AND state IN ('succeeded', 'failed', 'dead_letter') AND outcome = state
), measured AS (
    SELECT 'wait' AS name, queue AS label, extract(epoch FROM started_at - queued_at)::float8 AS value
    FROM timed WHERE started_at IS NOT NULL
    UNION ALL
    SELECT 'turnaround', queue, turnaround FROM timed
    UNION ALL
    SELECT 'estimate_error', queue, abs(turnaround - estimate_seconds)
    FROM timed WHERE estimate_seconds IS NOT NULL AND state <> 'dead_letter'
), counted AS (
    SELECT 'settled' AS name, queue AS label, outcome AS part, count(*)::float8 AS total FROM fresh GROUP BY 2, 3
    UNION ALL
    SELECT 'estimates_kept', queue, 'kept', count(*) FROM timed
    WHERE state <> 'dead_letter' AND turnaround BETWEEN estimate_low_seconds AND estimate_high_seconds GROUP BY 2
    UNION ALL
    SELECT name, label, 'bucket ' || width_bucket(value, %(bounds)s::float8[]), count(*) FROM measured GROUP BY 1, 2, 3
    UNION ALL
    SELECT name, label, 'sum', sum(greatest(value, 0)) FROM measured GROUP BY 1, 2
)
INSERT INTO ingestion_tally AS tally (name, label, part, total)
SELECT name, label, part, total FROM counted ORDER BY name, label, part
ON CONFLICT (name, label, part) DO UPDATE SET total = tally.total + EXCLUDED.total
