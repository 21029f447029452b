-- Guarantee: depth never passes the bound, not by one: the row's lock orders all admissions, and the check is made
-- again on the row as the one before left it. No row: full (or draining), and the transaction must be undone.
UPDATE ingestion_queuestate
SET jobs = jobs + 1, units = units + %(units)s, bytes = bytes + %(bytes)s
WHERE queue = %(queue)s AND NOT is_draining
  AND jobs + 1 <= %(max_jobs)s AND units + %(units)s <= %(max_units)s AND bytes + %(bytes)s <= %(max_bytes)s
RETURNING jobs
