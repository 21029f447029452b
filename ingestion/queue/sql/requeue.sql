-- Guarantee: the job is queued again under the claimed generation only, ready at the given time; a free wait, a drain
-- and a give-back return the try (`refund` 1), a failed try keeps it charged (`refund` 0). The bound is unchanged.
WITH settled AS (
    UPDATE ingestion_job
    SET state = 'queued', lease_until = NULL, attempt = attempt - %(refund)s,
        ready_at = COALESCE(%(until)s, now() + make_interval(secs => %(delay_seconds)s)),
        waiting_for = %(waiting_for)s,
        waiting_since = CASE WHEN %(waiting_for)s IN ('provider_quota', 'provider_outage') THEN now() END,
        lane = COALESCE(%(lane)s, lane),
        error_code = %(error_code)s, error_detail = %(error_detail)s
    WHERE id = %(id)s AND generation = %(generation)s AND state = 'running'
    RETURNING id, generation, attempt, worker
)
INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail, worker)
SELECT id, generation, attempt, %(outcome)s, %(error_detail)s, worker FROM settled
ON CONFLICT (job_id, generation) DO UPDATE SET at = now()
RETURNING job_id
