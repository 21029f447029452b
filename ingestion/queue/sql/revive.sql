-- Guarantee: a dead letter or failed job is queued again with a fresh budget and a new generation, if it is still one.
-- The caller takes its place in the bound in the same transaction, after this statement.
UPDATE ingestion_job
SET state = 'queued', attempt = 0, generation = generation + 1, ready_at = now(), finished_at = NULL,
    waited_seconds = 0, waiting_for = NULL, waiting_since = NULL, error_code = '', error_detail = '',
    started_at = NULL, expires_at = NULL
WHERE id = %(id)s AND state IN ('dead_letter', 'failed')
RETURNING queue, units, bytes
