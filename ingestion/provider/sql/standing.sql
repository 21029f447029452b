-- Guarantee: one row a lane as it stands now by the database's clock, also before its first use; nothing changes.
WITH timed AS MATERIALIZED (
    SELECT
        wanted.name, wanted.position, lane.blocked_until, lane.paused_until,
        coalesce(lane.pause_reason, '') AS pause_reason,
        clock_timestamp() AS now,
        least(wanted.configured, coalesce(lane.observed_limit, wanted.configured))::float8 AS capacity,
        coalesce(lane.level, wanted.configured)::float8 AS level,
        lane.level_at
    FROM (VALUES ('chat', 1, %(chat)s), ('embeddings', 2, %(embeddings)s)) AS wanted (name, position, configured)
    LEFT JOIN ingestion_providerlane AS lane ON lane.name = wanted.name
)
SELECT
    timed.name, timed.now, capacity, blocked_until, paused_until, pause_reason,
    least(capacity, level + capacity / 60 * coalesce(greatest(0, extract(epoch FROM now - level_at)), 0)::float8)
        AS filled,
    coalesce(breaker.state, 'closed') AS state, open_until, probe_until, coalesce(reason, '') AS breaker_reason
FROM timed LEFT JOIN ingestion_providerstate AS breaker ON true
ORDER BY position
