-- Guarantee: one row a lane as it stands now by the database's clock, also before its first use; nothing changes.
-- The clock is read once: a lane whose now were later than the other's would look closed until then, and a worker that
-- waits for it would ask again without a pause.
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
timed AS MATERIALIZED (
    SELECT
        wanted.name, wanted.position, lane.blocked_until, lane.paused_until,
        coalesce(lane.pause_reason, '') AS pause_reason,
        clock.now,
        least(wanted.configured, coalesce(lane.observed_limit, wanted.configured))::float8 AS capacity,
        coalesce(lane.level, wanted.configured)::float8 AS level,
        lane.level_at
    FROM clock
    CROSS JOIN (VALUES ('chat', 1, %(chat)s), ('embeddings', 2, %(embeddings)s)) AS wanted (name, position, configured)
    LEFT JOIN ingestion_providerlane AS lane ON lane.name = wanted.name
)
SELECT
    timed.name, timed.now, capacity, blocked_until, paused_until, pause_reason,
    least(capacity, level + capacity / 60 * coalesce(greatest(0, extract(epoch FROM now - level_at)), 0)::float8)
        AS filled,
    coalesce(breaker.state, 'closed') AS state, open_until, probe_until, coalesce(reason, '') AS breaker_reason
FROM timed LEFT JOIN ingestion_providerstate AS breaker ON true
ORDER BY position
