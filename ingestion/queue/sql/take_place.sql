-- Guarantee: depth never passes the bound, not by one: the row's lock orders all admissions, and the check is made
-- again on the row as the one before left it. No row: full (or draining), and the transaction must be undone.
-- Workers that listen wake when the transaction commits, where the queue is so short that they may sleep.
WITH taken AS (
    UPDATE ingestion_queuestate
    SET jobs = jobs + 1, units = units + %(units)s, bytes = bytes + %(bytes)s
    WHERE queue = %(queue)s AND NOT is_draining
      AND jobs + 1 <= %(max_jobs)s AND units + %(units)s <= %(max_units)s AND bytes + %(bytes)s <= %(max_bytes)s
    RETURNING jobs
)
SELECT jobs, CASE WHEN jobs <= %(notify_depth)s THEN pg_notify(%(channel)s, %(queue)s)::text END FROM taken
