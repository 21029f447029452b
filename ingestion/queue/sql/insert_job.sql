-- Guarantee: the job stands at its caller's next turn: the n-th waiting job of a caller is n turns behind the queue's
-- present one, so that two hundred of one caller do not hold back another's one.
INSERT INTO ingestion_job (
    queue, kind, caller_id, turn, lane, partition, max_attempts, units, bytes, expires_at,
    estimate_seconds, estimate_low_seconds, estimate_high_seconds, estimate_basis, jobs_ahead, request_id
)
SELECT %(queue)s, %(kind)s, %(caller_id)s,
       greatest(
           (SELECT min(turn) FROM ingestion_job WHERE queue = %(queue)s AND state = 'queued'),
           1 + (SELECT max(turn) FROM ingestion_job
                WHERE queue = %(queue)s AND caller_id = %(caller_id)s AND state IN ('queued', 'running')),
           0
       ),
       %(lane)s, %(partition)s, %(max_attempts)s, %(units)s, %(bytes)s, %(expires_at)s,
       %(estimate_seconds)s, %(low_seconds)s, %(high_seconds)s, %(basis)s, %(jobs_ahead)s, %(request_id)s
RETURNING id
