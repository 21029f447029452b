-- Guarantee: the dead letter or failed job, locked by this transaction, stands where it would stand if its caller had
-- sent it now: one turn behind what that caller has waiting, and behind its partition's line. So a thousand old jobs
-- do not go before the new ones that wait, which their old turns and sequences would do. No row: it is neither.
UPDATE ingestion_job AS job
SET sequence = nextval('ingestion_job_sequence'),
    turn = greatest(
        (SELECT min(turn) FROM ingestion_job WHERE queue = job.queue AND state = 'queued'),
        1 + (SELECT max(turn) FROM ingestion_job AS own
             WHERE own.queue = job.queue AND own.caller_id = job.caller_id AND own.state IN ('queued', 'running')),
        0
    )
WHERE job.id = %(id)s AND job.state IN ('dead_letter', 'failed')
RETURNING job.id
