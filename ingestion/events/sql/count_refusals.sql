-- Guarantee: the caller's counts have grown by exactly these numbers. The commit is not waited for: refusing stays
-- cheap, and a crash of the database may forget the last fraction of a second of refusals, never an accepted event.
WITH hurry AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO ingestion_intakecount AS counted (caller_id, replayed, rejected, invalid, conflict)
SELECT %(caller)s, %(replayed)s, %(rejected)s, %(invalid)s, %(conflict)s FROM hurry
ON CONFLICT (caller_id) DO UPDATE
SET replayed = counted.replayed + EXCLUDED.replayed, rejected = counted.rejected + EXCLUDED.rejected,
    invalid = counted.invalid + EXCLUDED.invalid, conflict = counted.conflict + EXCLUDED.conflict
