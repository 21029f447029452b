-- Guarantee: over all processes, no more is reserved than the bucket holds, bulk work never goes below the
-- questions' share, at most one call is the probe of an open breaker or of a paused lane, and a granted call
-- has its intent in the ledger. A call that is not granted changes nothing. No row: `prepare` has to run first.
-- Locks: the lane, then the breaker (only while it is not closed), as in `settle`.
WITH held AS MATERIALIZED (
    SELECT * FROM ingestion_providerlane WHERE name = %(lane)s FOR UPDATE
),
breaker AS MATERIALIZED (
    -- A closed breaker is only read: what slips through while it opens is a call already in flight.
    SELECT * FROM ingestion_providerstate WHERE state <> 'closed' AND EXISTS (SELECT 1 FROM held) FOR UPDATE
),
timed AS MATERIALIZED (
    SELECT
        held.*,
        -- Read behind the lock, so that it is never older than `level_at`.
        clock_timestamp() AS now,
        least(%(configured)s, coalesce(observed_limit, %(configured)s))::float8 AS capacity
    FROM held
    WHERE EXISTS (SELECT 1 FROM ingestion_providerstate)
),
measured AS MATERIALIZED (
    SELECT
        timed.*,
        least(capacity, level + capacity / 60 * greatest(0, extract(epoch FROM now - level_at))::float8) AS filled,
        -- What bulk must leave. A request too large for that may still run from a full bucket.
        CASE WHEN %(is_bulk)s THEN least(%(share)s * capacity, greatest(0, capacity - %(need)s)) ELSE 0 END AS floor
    FROM timed
),
judged AS MATERIALIZED (
    SELECT
        measured.now, capacity, filled, floor, blocked_until, paused_until, pause_reason,
        coalesce(breaker.state, 'closed') AS state, open_until, probe_until, breaker.reason AS breaker_reason,
        breaker.state IS NULL
        OR (breaker.state = 'open' AND open_until <= now)
        OR (breaker.state = 'half_open' AND coalesce(probe_until <= now, true)) AS breaker_allows,
        coalesce(blocked_until <= now, true) AND coalesce(paused_until <= now, true) AS lane_allows,
        -- A millionth is forgiven: a wait that was computed exactly must be enough.
        filled >= floor + %(need)s - 0.000001 AS has_room
    FROM measured LEFT JOIN breaker ON true
),
granted AS MATERIALIZED (
    SELECT * FROM judged WHERE breaker_allows AND lane_allows AND has_room
),
reserved AS (
    UPDATE ingestion_providerlane AS lane
    SET limit_per_minute = %(configured)s,
        level = granted.filled - %(need)s,
        level_at = granted.now,
        -- A paused lane's probe moves the next probe away.
        paused_until = CASE WHEN lane.paused_until IS NOT NULL
            THEN granted.now + %(pause_seconds)s * interval '1 second' END
    FROM granted
    WHERE lane.name = %(lane)s
),
probing AS (
    UPDATE ingestion_providerstate AS breaker
    SET state = 'half_open', probe_id = %(client_request_id)s,
        -- A prober that died is replaced after this.
        probe_until = granted.now + %(probe_seconds)s * interval '1 second'
    FROM granted
    WHERE granted.state <> 'closed'
),
intent AS (
    INSERT INTO ingestion_providercall
        (client_request_id, job_id, generation, lane, model, purpose, step, inputs, reserved, started_at)
    SELECT %(client_request_id)s, %(job_id)s::uuid, %(generation)s::bigint, %(lane)s, %(model)s, %(purpose)s,
        %(step)s, %(inputs)s, %(need)s, granted.now
    FROM granted
)
SELECT judged.*, breaker_allows AND lane_allows AND has_room AS is_granted FROM judged
