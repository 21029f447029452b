-- Guarantee: the new event is saved with its job, its producer's owner and its partition's checkpoint, and the depth
-- counts it; or, where the bound has no place or the queue is draining, nothing is, and the answer is null. It is what
-- `admit.sql` does for many, for one: a fifth of the work, because nothing has to be thought of as a set.
-- An identity or a producer that another transaction took meanwhile is a unique violation: nothing is saved.
-- The depth's row is locked first: the statement is its own transaction, so the lock is held for no round trip, and
-- the sequence is drawn under it, so that the order of acceptance is the order of commits.
CREATE OR REPLACE FUNCTION ingestion_save_event(
    queue_ text, caller_ bigint, producer_ text, event_id_ text, type_ text, partition_ text,
    occurred_ timestamptz, expires_ timestamptz, payload_ text, hash_ text, units_ bigint, bytes_ bigint,
    wait_ float8, low_ float8, high_ float8, basis_ text, ahead_ integer, request_id_ text, max_attempts_ integer,
    max_jobs_ bigint, max_units_ bigint, max_bytes_ bigint, channel_ text, notify_depth_ integer
) RETURNS uuid LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    depth_ integer;
    job_ uuid;
BEGIN
    UPDATE ingestion_queuestate AS depth
    SET jobs = depth.jobs + 1, units = depth.units + units_, bytes = depth.bytes + bytes_
    WHERE depth.queue = queue_ AND NOT depth.is_draining AND depth.jobs < max_jobs_
      AND depth.units + units_ <= max_units_ AND depth.bytes + bytes_ <= max_bytes_
    RETURNING depth.jobs INTO depth_;
    IF depth_ IS NULL THEN
        RETURN NULL;
    END IF;

    PERFORM FROM ingestion_producerowner AS owner WHERE owner.producer = producer_ AND owner.caller_id = caller_;
    IF NOT FOUND THEN
        INSERT INTO ingestion_producerowner (producer, caller_id) VALUES (producer_, caller_);
    END IF;
    PERFORM FROM ingestion_checkpoint AS checkpoint WHERE checkpoint.partition = partition_;
    IF NOT FOUND THEN
        INSERT INTO ingestion_checkpoint (partition) VALUES (partition_) ON CONFLICT (partition) DO NOTHING;
    END IF;
    INSERT INTO ingestion_job (
        queue, kind, caller_id, turn, partition, max_attempts, units, bytes, expires_at,
        estimate_seconds, estimate_low_seconds, estimate_high_seconds, estimate_basis, jobs_ahead, request_id
    ) VALUES (
        queue_, 'apply_event', caller_, ingestion_next_turn(queue_, caller_), partition_, max_attempts_, units_, bytes_,
        expires_, wait_, low_, high_, basis_, ahead_, request_id_
    ) RETURNING id INTO job_;
    INSERT INTO ingestion_eventrecord (
        producer, event_id, caller_id, type, partition, occurred_at, payload, payload_hash, job_id
    ) VALUES (
        producer_, event_id_, caller_, type_, partition_, coalesce(occurred_, now()), payload_::jsonb, hash_, job_
    );
    IF depth_ <= notify_depth_ THEN
        PERFORM pg_notify(channel_, queue_);
    END IF;
    RETURN job_;
END
$$;
