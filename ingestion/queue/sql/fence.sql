-- Guarantee: while this transaction lasts the job is ours under the claimed generation, so what is written with it
-- belongs to this claim. No row: the claim is lost.
UPDATE ingestion_job
SET progress_done = %(done)s, progress_total = %(total)s, lane = COALESCE(%(lane)s, lane)
WHERE id = %(id)s AND generation = %(generation)s AND state = 'running'
RETURNING id
