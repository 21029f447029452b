-- Guarantee: a caller's n-th waiting job is n turns behind the queue's present one, so that two hundred of one caller
-- do not hold back another's one. Two probes of an index, however long the queue is.
CREATE OR REPLACE FUNCTION ingestion_next_turn(queue_ text, caller_ bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    present_ bigint;
    own_ bigint;
BEGIN
    SELECT min(job.turn) INTO present_ FROM ingestion_job AS job WHERE job.queue = queue_ AND job.state = 'queued';
    SELECT max(job.turn) INTO own_ FROM ingestion_job AS job
    WHERE job.queue = queue_ AND job.caller_id = caller_ AND job.state IN ('queued', 'running');
    RETURN greatest(present_, own_ + 1, 0);
END
$$;
