-- Guarantee: the call's outcome is in the ledger once, and with it, in the same commit, what it means for the
-- bucket, the lane's pause and the breaker. Run twice, the second run changes nothing and returns no row.
-- Locks: the call, the lane, the breaker, in this order; `begin` takes lane before breaker too.
WITH finished AS (
    UPDATE ingestion_providercall
    SET finished_at = clock_timestamp(), outcome = %(outcome)s, status = %(status)s::int,
        prompt_tokens = %(prompt_tokens)s, completion_tokens = %(completion_tokens)s,
        cost_usd = %(cost_usd)s, error = %(error)s
    WHERE client_request_id = %(client_request_id)s AND outcome IS NULL
    RETURNING started_at
),
held AS MATERIALIZED (
    SELECT * FROM ingestion_providerlane
    WHERE name = %(lane)s AND EXISTS (SELECT 1 FROM finished)
    FOR UPDATE
),
breaker AS MATERIALIZED (
    SELECT * FROM ingestion_providerstate WHERE EXISTS (SELECT 1 FROM held) FOR UPDATE
),
timed AS MATERIALIZED (
    SELECT
        held.*, finished.started_at, clock_timestamp() AS now,
        least(%(configured)s, coalesce(observed_limit, %(configured)s))::float8 AS capacity,
        -- The provider's own word on its limit is kept, never above what is configured.
        least(%(configured)s, coalesce(%(limit)s::int, observed_limit, %(configured)s))::float8 AS new_capacity
    FROM held, finished
),
laned AS (
    UPDATE ingestion_providerlane AS lane
    SET observed_limit = coalesce(%(limit)s::int, lane.observed_limit),
        level = least(
            timed.new_capacity,
            least(timed.capacity, timed.level
                + timed.capacity / 60 * greatest(0, extract(epoch FROM timed.now - timed.level_at))::float8)
                + %(give_back)s,
            -- What the provider said was left, and has refilled since; one more, because it rounds down.
            %(remaining)s::float8 + 1 + timed.new_capacity / 60 * %(latency_seconds)s),
        level_at = timed.now,
        blocked_until = CASE WHEN %(block_seconds)s::float8 IS NULL THEN lane.blocked_until
            ELSE greatest(lane.blocked_until, timed.now + %(block_seconds)s::float8 * interval '1 second') END,
        paused_until = CASE
            WHEN %(pause_reason)s <> '' THEN timed.now + %(pause_seconds)s * interval '1 second'
            -- A call from before the pause proves nothing about it.
            WHEN %(is_success)s AND timed.started_at > timed.paused_since THEN NULL
            ELSE lane.paused_until END,
        paused_since = CASE
            WHEN %(pause_reason)s <> '' THEN coalesce(timed.paused_since, timed.now)
            WHEN %(is_success)s AND timed.started_at > timed.paused_since THEN NULL
            ELSE lane.paused_since END,
        pause_reason = CASE
            WHEN %(pause_reason)s <> '' THEN %(pause_reason)s
            WHEN %(is_success)s AND timed.started_at > timed.paused_since THEN ''
            ELSE lane.pause_reason END
    FROM timed
    WHERE lane.name = timed.name
    RETURNING lane.blocked_until, lane.paused_until
),
judged AS MATERIALIZED (
    SELECT
        breaker.*, timed.now,
        breaker.state AS state_before,
        %(is_failure)s AND (
            (breaker.state = 'closed' AND breaker.failures + 1 >= %(breaker_failures)s)
            OR (breaker.state = 'half_open' AND breaker.probe_id = %(client_request_id)s)
        ) AS opens,
        NOT %(is_failure)s AND breaker.state = 'half_open' AND breaker.probe_id = %(client_request_id)s AS closes,
        -- A success ends a row of failures only if none of them came after it had begun: the last good answers
        -- from before an outage must not stretch the row. `seen` tells a failure that this snapshot misses.
        %(is_success)s AND breaker.state = 'closed' AND breaker.failures + breaker.openings > 0
        AND breaker.failures = seen.failures
        AND NOT EXISTS (
            SELECT 1 FROM ingestion_providercall AS other
            WHERE other.lane IN ('chat', 'embeddings') AND other.finished_at > timed.started_at
            AND other.outcome IN ('server_error', 'timeout', 'disconnected')
        ) AS clears
    FROM breaker, timed, ingestion_providerstate AS seen
),
decided AS MATERIALIZED (
    SELECT judged.*,
        CASE WHEN opens THEN now + interval '1 second' * %(open_seconds)s * least(10, 2 ^ least(openings, 4))
            WHEN closes THEN NULL ELSE open_until END AS next_open_until
    FROM judged
),
broken AS (
    UPDATE ingestion_providerstate AS breaker
    SET state = CASE WHEN opens THEN 'open' WHEN closes THEN 'closed' ELSE breaker.state END,
        failures = CASE WHEN closes OR clears THEN 0
            WHEN %(is_failure)s AND breaker.state = 'closed' THEN breaker.failures + 1 ELSE breaker.failures END,
        openings = CASE WHEN opens THEN breaker.openings + 1
            WHEN %(is_success)s AND (closes OR clears) THEN 0 ELSE breaker.openings END,
        open_until = next_open_until,
        open_since = CASE WHEN opens THEN coalesce(breaker.open_since, now) WHEN closes THEN NULL
            ELSE breaker.open_since END,
        probe_id = CASE WHEN opens OR closes THEN '' ELSE breaker.probe_id END,
        probe_until = CASE WHEN opens OR closes THEN NULL ELSE breaker.probe_until END,
        reason = CASE WHEN opens THEN %(error)s WHEN closes THEN '' ELSE breaker.reason END
    FROM decided
    WHERE breaker.id = decided.id
    AND (opens OR closes OR clears OR (%(is_failure)s AND decided.state_before = 'closed'))
)
SELECT now, state_before, opens, closes, next_open_until AS open_until, blocked_until, paused_until
FROM decided, laned
