-- Guarantee: one row a minute from `since` on in which a job of the queue was accepted or ended; nothing else is read
-- than what ended since then (job_finished) and what is live (job_live_age), however much lies in the table.
-- A job that was accepted since then has either ended since then or is live, so that both together are all of them.
-- Inexact for a job that was revived: it keeps its first moment of acceptance and loses its earlier end.
WITH ended AS (
    SELECT queued_at, finished_at, state,
           extract(epoch FROM finished_at - queued_at)::float8 AS seconds
    FROM ingestion_job
    WHERE queue = %(queue)s AND finished_at >= %(since)s
),
counted AS (
    SELECT date_trunc('minute', finished_at) AS minute, 0 AS accepted,
           count(*) FILTER (WHERE state = 'succeeded') AS finished,
           count(*) FILTER (WHERE state IN ('failed', 'dead_letter')) AS given_up,
           count(*) FILTER (WHERE state IN ('cancelled', 'expired')) AS dropped,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE state = 'succeeded') AS median_seconds,
           max(seconds) FILTER (WHERE state = 'succeeded') AS longest_seconds
    FROM ended GROUP BY 1
    UNION ALL
    SELECT date_trunc('minute', queued_at), count(*), 0, 0, 0, NULL, NULL
    FROM ended WHERE queued_at >= %(since)s GROUP BY 1
    UNION ALL
    SELECT date_trunc('minute', queued_at), count(*), 0, 0, 0, NULL, NULL
    FROM ingestion_job
    WHERE queue = %(queue)s AND state IN ('queued', 'running') AND queued_at >= %(since)s GROUP BY 1
)
SELECT minute, sum(accepted)::int, sum(finished)::int, sum(given_up)::int, sum(dropped)::int,
       max(median_seconds), max(longest_seconds)
FROM counted GROUP BY minute
