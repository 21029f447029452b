-- Guarantee: the document has its next number and a version with its job, all in the caller's transaction; or, where
-- `if_match_` names another version than the latest (`latest`) or none was left (`deleted`), the verdict says so and
-- the caller undoes what little was written. The document's row is locked until the transaction ends; the depth is the
-- caller's to take, last. A slug that was deleted comes back under its old numbers.
CREATE OR REPLACE FUNCTION ingestion_add_version(
    slug_ text, title_ text, first_title_ text, if_match_ integer, queue_ text, kind_ text, lane_ text,
    caller_ bigint, max_attempts_ integer, units_ bigint, bytes_ bigint,
    estimate_ float8, low_ float8, high_ float8, basis_ text, ahead_ integer, request_id_ text,
    sha256_ text, media_type_ text, charset_ text, file_name_ text, storage_key_ text,
    OUT verdict_ text, OUT document_title_ text, OUT number_ integer, OUT job_ uuid
) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    document record;
    is_new boolean := false;
BEGIN
    SELECT known.id, known.title, known.latest_number, known.deleted_at INTO document
    FROM ingestion_document AS known WHERE known.slug = slug_ FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        -- Another may insert it at this moment: then its row is waited for, and is not ours.
        INSERT INTO ingestion_document (slug, title) VALUES (slug_, coalesce(title_, first_title_))
        ON CONFLICT (slug) DO NOTHING;
        is_new := FOUND;
        SELECT known.id, known.title, known.latest_number, known.deleted_at INTO document
        FROM ingestion_document AS known WHERE known.slug = slug_ FOR NO KEY UPDATE;
    END IF;

    verdict_ := 'added';
    document_title_ := document.title;
    number_ := document.latest_number;
    IF document.deleted_at IS NOT NULL THEN
        document_title_ := coalesce(title_, first_title_);
        IF if_match_ <> 0 THEN
            verdict_ := 'deleted';
            RETURN;
        END IF;
    ELSIF NOT is_new AND if_match_ <> document.latest_number THEN
        verdict_ := 'latest';
        RETURN;
    END IF;
    number_ := document.latest_number + 1;
    UPDATE ingestion_document AS known
    SET latest_number = number_, deleted_at = NULL, title = document_title_ WHERE known.id = document.id;

    INSERT INTO ingestion_job (
        queue, kind, caller_id, turn, lane, max_attempts, units, bytes,
        estimate_seconds, estimate_low_seconds, estimate_high_seconds, estimate_basis, jobs_ahead, request_id
    ) VALUES (
        queue_, kind_, caller_, ingestion_next_turn(queue_, caller_), lane_, max_attempts_, units_, bytes_,
        estimate_, low_, high_, basis_, ahead_, request_id_
    ) RETURNING id INTO job_;
    INSERT INTO ingestion_documentversion (
        document_id, number, job_id, title, sha256, bytes, media_type, charset, file_name, storage_key
    ) VALUES (
        document.id, number_, job_,
        coalesce(title_, CASE WHEN number_ > 1 THEN document_title_ ELSE first_title_ END),
        sha256_, bytes_, media_type_, charset_, file_name_, storage_key_
    );
END
$$;
