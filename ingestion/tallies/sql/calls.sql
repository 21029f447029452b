-- Guarantee: each call that ended in [after, before) is counted in this transaction. A call is settled by one statement
-- that ends it by the clock, so that one which is not visible yet ended after `before`. Reads the new rows by index.
WITH fresh AS MATERIALIZED (
    SELECT lane, outcome, prompt_tokens + completion_tokens AS tokens, cost_usd,
           extract(epoch FROM finished_at - started_at)::float8 AS value
    FROM ingestion_providercall
    WHERE lane = ANY(%(lanes)s) AND finished_at < %(before)s AND outcome IS NOT NULL
      AND finished_at >= coalesce(%(after)s::timestamptz, '-infinity')
), counted AS (
    SELECT 'calls' AS name, lane AS label, outcome AS part, count(*)::float8 AS total FROM fresh GROUP BY 2, 3
    UNION ALL
    SELECT 'tokens', lane, 'charged', sum(tokens) FROM fresh GROUP BY 2
    UNION ALL
    SELECT 'cost_usd', lane, 'charged', sum(cost_usd)::float8 FROM fresh GROUP BY 2
    UNION ALL
    SELECT 'call', lane, 'bucket ' || width_bucket(value, %(bounds)s::float8[]), count(*) FROM fresh GROUP BY 2, 3
    UNION ALL
    SELECT 'call', lane, 'sum', sum(greatest(value, 0)) FROM fresh GROUP BY 2
)
INSERT INTO ingestion_tally AS tally (name, label, part, total)
SELECT name, label, part, total FROM counted ORDER BY name, label, part
ON CONFLICT (name, label, part) DO UPDATE SET total = tally.total + EXCLUDED.total
