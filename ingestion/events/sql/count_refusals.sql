-- Guarantee: the caller's counts have grown by exactly these numbers. The commit is not waited for: refusing stays
-- cheap, and a crash of the database may forget the last fraction of a second of refusals, never an accepted event.
-- A connection counts in its own shard of the caller's sum, so that refusals don't wait for each other at one row.
WITH hurry AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO ingestion_intakecount AS counted (caller_id, shard, replayed, rejected, invalid, conflict)
SELECT %(caller)s, pg_backend_pid() %% 16, %(replayed)s, %(rejected)s, %(invalid)s, %(conflict)s FROM hurry
ON CONFLICT (caller_id, shard) DO UPDATE
SET replayed = counted.replayed + EXCLUDED.replayed, rejected = counted.rejected + EXCLUDED.rejected,
    invalid = counted.invalid + EXCLUDED.invalid, conflict = counted.conflict + EXCLUDED.conflict
