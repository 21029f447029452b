-- Guarantee: what is ahead of this caller's next job: what runs, and what waits with an earlier or the same turn. Not
-- counted row by row where the caller's turn is the last (then it is the depth), nor beyond AHEAD_MAX rows (then the
-- depth is said, which is never less).
CREATE OR REPLACE FUNCTION ingestion_ahead(queue_ text, caller_ bigint, OUT jobs bigint, OUT units bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    AHEAD_MAX CONSTANT integer := 500;
    turn_ bigint := ingestion_next_turn(queue_, caller_);
    last_ bigint;
    waiting_ record;
BEGIN
    SELECT depth.jobs, depth.units INTO jobs, units FROM ingestion_queuestate AS depth WHERE depth.queue = queue_;
    SELECT max(job.turn) INTO last_ FROM ingestion_job AS job WHERE job.queue = queue_ AND job.state = 'queued';
    IF turn_ >= last_ OR last_ IS NULL THEN
        RETURN;
    END IF;
    SELECT count(*) AS jobs, coalesce(sum(ahead.units), 0) AS units INTO waiting_
    FROM (
        SELECT job.units FROM ingestion_job AS job
        WHERE job.queue = queue_ AND job.state = 'queued' AND job.turn <= turn_
        ORDER BY job.turn LIMIT AHEAD_MAX
    ) AS ahead;
    IF waiting_.jobs < AHEAD_MAX THEN
        SELECT waiting_.jobs + count(*), waiting_.units + coalesce(sum(job.units), 0) INTO jobs, units
        FROM ingestion_job AS job WHERE job.queue = queue_ AND job.state = 'running';
    END IF;
END
$$;
