-- Guarantee: whatever began before `horizon` has ended, so that all it wrote is visible to the next statement. An old
-- transaction that has written nothing is a reader (a dump): every statement of ours ends within 30 s.
SELECT clock_timestamp() AS now,
       -- The last id that was given; none of a fresh sequence was.
       (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM ingestion_joboutcome_id_seq)
           AS last_outcome,
       coalesce((
           SELECT min(xact_start) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
             AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - interval '5 minutes')
       ), clock_timestamp()) AS horizon
