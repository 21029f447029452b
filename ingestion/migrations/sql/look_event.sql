-- Guarantee: in one round trip and without a lock, who calls, whether the queue has a place, what is ahead of this
-- caller's next job, and what is committed of one event's identity. The depth is read before the identity, each in a
-- snapshot of its own: whoever sees the depth that an admission left sees its event too, so that a replay is never
-- taken for a new event in a full queue.
-- A new event that a full queue refuses is counted here where `counts_` says that nothing else is wrong with it; the
-- commit of that is not waited for, as in `count_refusals`.
-- What is ahead is not counted row by row where this caller's turn is the last (then it is the depth), nor beyond
-- AHEAD_MAX rows (then the depth is said, which is never less).
CREATE OR REPLACE FUNCTION ingestion_look_event(
    queue_ text, token_hash_ text, producer_ text, event_id_ text,
    max_jobs_ bigint, max_units_ bigint, max_bytes_ bigint, counts_ boolean,
    OUT caller_id bigint, OUT caller_name text, OUT rights text[], OUT uploads_per_minute integer, OUT user_id integer,
    OUT is_draining boolean, OUT has_place boolean, OUT asked_at timestamptz,
    OUT jobs_ahead bigint, OUT units_ahead bigint,
    OUT owner_id bigint, OUT payload_hash text, OUT job_id uuid, OUT job_state text, OUT is_counted boolean
) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    AHEAD_MAX CONSTANT integer := 500;
    depth record;
    turn_ bigint;
    last_ bigint;
    running_ record;
BEGIN
    SELECT caller.id, caller.name, caller.rights, caller.uploads_per_minute, caller.user_id
    INTO caller_id, caller_name, rights, uploads_per_minute, user_id
    FROM ingestion_caller AS caller WHERE caller.token_hash = token_hash_ AND caller.is_active;
    is_counted := false;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    SELECT state.jobs, state.units, state.bytes, state.is_draining INTO depth
    FROM ingestion_queuestate AS state WHERE state.queue = queue_;
    is_draining := depth.is_draining;
    has_place := NOT depth.is_draining AND depth.jobs < max_jobs_ AND depth.units < max_units_
        AND depth.bytes < max_bytes_;
    asked_at := now();

    SELECT event.payload_hash, event.job_id INTO payload_hash, job_id
    FROM ingestion_eventrecord AS event WHERE event.producer = producer_ AND event.event_id = event_id_;
    SELECT owner.caller_id INTO owner_id FROM ingestion_producerowner AS owner WHERE owner.producer = producer_;
    IF job_id IS NOT NULL THEN
        SELECT job.state INTO job_state FROM ingestion_job AS job WHERE job.id = ingestion_look_event.job_id;
        RETURN;
    END IF;

    IF NOT has_place THEN
        IF counts_ AND 'produce' = ANY(rights) AND (owner_id IS NULL OR owner_id = caller_id) THEN
            PERFORM set_config('synchronous_commit', 'off', true);
            INSERT INTO ingestion_intakecount AS counted (caller_id, shard, rejected)
            VALUES (ingestion_look_event.caller_id, pg_backend_pid() % 16, 1)
            ON CONFLICT ON CONSTRAINT intake_count_once_a_shard DO UPDATE SET rejected = counted.rejected + 1;
            is_counted := true;
        END IF;
        RETURN;
    END IF;

    turn_ := ingestion_next_turn(queue_, caller_id);
    SELECT max(job.turn) INTO last_ FROM ingestion_job AS job WHERE job.queue = queue_ AND job.state = 'queued';
    jobs_ahead := depth.jobs;
    units_ahead := depth.units;
    IF turn_ < last_ THEN
        SELECT count(*) AS jobs, coalesce(sum(ahead.units), 0) AS units INTO running_
        FROM (
            SELECT job.units FROM ingestion_job AS job
            WHERE job.queue = queue_ AND job.state = 'queued' AND job.turn <= turn_
            ORDER BY job.turn LIMIT AHEAD_MAX
        ) AS ahead;
        IF running_.jobs < AHEAD_MAX THEN
            SELECT running_.jobs + count(*), running_.units + coalesce(sum(job.units), 0)
            INTO jobs_ahead, units_ahead
            FROM ingestion_job AS job WHERE job.queue = queue_ AND job.state = 'running';
        END IF;
    END IF;
END
$$;
