"""How each rule of reconciling is broken, in SQL, and what must then be named; for `test_reconciling`."""

from ingestion.tests.living import DEAD


def _version(column: str, slug: str, which: str) -> str:
    return (
        f"SELECT version.{column} FROM ingestion_documentversion AS version "
        f"JOIN ingestion_document AS document ON {which} WHERE slug = '{slug}'"
    )


PUBLISHED = _version("id", "returns", "document.published_id = version.id")
SUPERSEDED = _version("id", "returns", "version.document_id = document.id AND number = 1")
JOB = _version("job_id", "returns", "document.published_id = version.id")
WAITING = "SELECT id FROM ingestion_job WHERE queue = 'documents' AND state = 'queued'"
VECTOR = (
    "SELECT min(id) FROM ingestion_chunkvector WHERE chunk_id IN "
    f"(SELECT id FROM ingestion_chunk WHERE version_id = ({PUBLISHED}))"
)
FIRST = f"SELECT id FROM ingestion_chunk WHERE version_id = ({PUBLISHED}) AND position = 0"
CALL = f"SELECT client_request_id FROM ingestion_providercall WHERE job_id = ({JOB}) AND lane = 'chat'"
CHUNK = f"SELECT format('%s[0]', ({PUBLISHED}))"
OUTCOME = "INSERT INTO ingestion_joboutcome (generation, attempt, outcome, job_id) VALUES"

# (rule, what breaks it, a query for the name that must be shown, asked before)
BREAKS: list[tuple[str, str, str]] = [
    (
        "job_has_one_subject",
        "DELETE FROM ingestion_eventrecord WHERE job_id IN (SELECT id FROM ingestion_job WHERE state = 'queued')",
        "SELECT id FROM ingestion_job WHERE queue = 'events' AND state = 'queued'",
    ),
    (
        "version_has_one_job",
        "ALTER TABLE ingestion_documentversion DROP CONSTRAINT ingestion_documentversion_job_id_key; "
        f"UPDATE ingestion_documentversion SET job_id = ({DEAD}) WHERE id = ({PUBLISHED})",
        f"SELECT min(id) FROM ingestion_documentversion WHERE id = ({PUBLISHED}) OR job_id = ({DEAD})",
    ),
    (
        "event_has_one_job",
        "ALTER TABLE ingestion_eventrecord DROP CONSTRAINT ingestion_eventrecord_job_id_key; UPDATE "
        "ingestion_eventrecord SET job_id = (SELECT job_id FROM ingestion_eventrecord WHERE event_id = "
        "'e-1')",
        "SELECT min(id) FROM ingestion_eventrecord",
    ),
    (
        "versions_are_numbered_without_a_hole",
        "UPDATE ingestion_document SET latest_number = 7 WHERE slug = 'cards'",
        "SELECT 'cards'",
    ),
    (
        "accepted_adds_up",
        f"UPDATE ingestion_job SET queue = 'lost' WHERE id = ({DEAD})",
        "SELECT 'documents: 6 accepted, 5 jobs'",
    ),
    (
        "depth_counts_live_jobs",
        "UPDATE ingestion_queuestate SET jobs = jobs + 1 WHERE queue = 'events'",
        "SELECT format('events: depth 2 jobs %s units %s bytes, live 1 jobs %s units %s bytes', units, "
        "bytes, units, bytes) FROM ingestion_queuestate WHERE queue = 'events'",
    ),
    (
        "one_chunk_a_position",
        f"UPDATE ingestion_chunk SET job_id = ({DEAD}) WHERE version_id = ({PUBLISHED})",
        f"SELECT format('%s[0]', ({DEAD}))",
    ),
    (
        "positions_without_a_hole",
        f"UPDATE ingestion_chunk SET position = 9 WHERE version_id = ({PUBLISHED}) AND position = 0",
        PUBLISHED,
    ),
    (
        "positions_without_a_hole",
        f"UPDATE ingestion_documentversion SET chunk_count = 9 WHERE id = ({SUPERSEDED})",
        SUPERSEDED,
    ),
    (
        "chunks_are_slices",
        f"UPDATE ingestion_chunk SET text = 'Within 400 days.' WHERE version_id = ({PUBLISHED})",
        CHUNK,
    ),
    (
        "chunks_are_slices",
        f"UPDATE ingestion_documentversion SET text = text || 'more' WHERE id = ({PUBLISHED})",
        CHUNK,
    ),
    (
        "one_vector_a_chunk",
        f"DELETE FROM ingestion_chunkvector WHERE id = ({VECTOR})",
        CHUNK,
    ),
    (
        "one_vector_a_chunk",
        f"UPDATE ingestion_chunkvector SET input_hash = 'other' WHERE id = ({VECTOR})",
        CHUNK,
    ),
    (
        "no_chunk_without_a_vector",
        "DELETE FROM ingestion_chunkvector WHERE chunk_id IN (SELECT id FROM ingestion_chunk WHERE "
        f"version_id = ({SUPERSEDED}) AND position = 0)",
        f"SELECT format('%s[0]', ({SUPERSEDED}))",
    ),
    (
        "vectors_are_usable",
        f"UPDATE ingestion_chunkvector SET vector = '[1,0]' WHERE id = ({VECTOR})",
        VECTOR,
    ),
    (
        "vectors_are_usable",
        f"UPDATE ingestion_chunkvector SET vector = array_fill(0, ARRAY[384])::vector WHERE id = ({VECTOR})",
        VECTOR,
    ),
    (
        "one_summary_a_job",
        f"DELETE FROM ingestion_summary WHERE job_id = ({JOB})",
        JOB,
    ),
    (
        "published_is_the_highest_succeeded",
        f"UPDATE ingestion_document SET published_id = ({SUPERSEDED}) WHERE slug = 'returns'",
        "SELECT 'returns'",
    ),
    (
        "published_is_the_highest_succeeded",
        "UPDATE ingestion_document SET deleted_at = now() WHERE slug = 'returns'",
        "SELECT 'returns'",
    ),
    (
        "version_times_tell_its_state",
        f"UPDATE ingestion_documentversion SET superseded_at = NULL WHERE id = ({SUPERSEDED})",
        SUPERSEDED,
    ),
    (
        "searchable_means_published",
        f"UPDATE ingestion_chunk SET is_searchable = true WHERE version_id = ({SUPERSEDED}) AND position = 0",
        f"SELECT format('%s[0]', ({SUPERSEDED}))",
    ),
    (
        "searchable_vectors_are_those_of_published_chunks",
        f"DELETE FROM ingestion_searchablevector WHERE chunk_id = ({FIRST})",
        CHUNK,
    ),
    (
        "searchable_vectors_are_those_of_published_chunks",
        f"UPDATE ingestion_searchablevector SET vector = array_fill(1, ARRAY[384])::halfvec WHERE chunk_id = ({FIRST})",
        CHUNK,
    ),
    (
        "searchable_vectors_are_those_of_published_chunks",
        "INSERT INTO ingestion_searchablevector (chunk_id, document_id, embedding_version, vector) SELECT chunk.id, "
        "document_id, embedding_version, vector FROM ingestion_searchablevector, ingestion_chunk AS chunk WHERE "
        f"chunk_id = ({FIRST}) AND chunk.version_id = ({SUPERSEDED}) AND chunk.position = 0",
        f"SELECT format('%s[0]', ({SUPERSEDED}))",
    ),
    (
        "no_lease_is_overdue",
        "UPDATE ingestion_job SET state = 'running', lease_until = now() - interval '10 minutes' WHERE "
        f"id = ({WAITING})",
        WAITING,
    ),
    (
        "one_terminal_record_a_life",
        f"{OUTCOME} (2, 1, 'failed', ({JOB}))",
        JOB,
    ),
    (
        "one_terminal_record_a_life",
        f"{OUTCOME} (2, 1, 'dead_letter', ({DEAD}))",
        DEAD,
    ),
    (
        "ended_as_recorded",
        f"UPDATE ingestion_job SET state = 'failed' WHERE id = ({JOB})",
        JOB,
    ),
    (
        "ended_as_recorded",
        f"{OUTCOME} (1, 1, 'succeeded', ({WAITING}))",
        WAITING,
    ),
    (
        "generation_never_fell",
        f"UPDATE ingestion_job SET generation = 0 WHERE id = ({JOB})",
        JOB,
    ),
    (
        "generation_never_fell",
        f"{OUTCOME} (0, 1, 'retry', ({JOB}))",
        JOB,
    ),
    (
        "completed_means_applied",
        "DELETE FROM ingestion_eventeffect",
        "SELECT 'helpdesk-eu/e-1'",
    ),
    (
        "completed_means_applied",
        "INSERT INTO ingestion_eventeffect (event_id, generation) SELECT id, 1 FROM "
        "ingestion_eventrecord WHERE event_id = 'e-3'",
        "SELECT 'helpdesk-eu/e-3'",
    ),
    (
        "effects_are_counted_once",
        "UPDATE ingestion_usageday SET views = views + 1 WHERE views > 0",
        "SELECT 'document.viewed: 2 counted, 1 applied'",
    ),
    (
        "ratings_are_within_their_scale",
        "UPDATE ingestion_usageday SET rating_sum = 6 WHERE ratings = 1",
        "SELECT id FROM ingestion_usageday WHERE ratings = 1",
    ),
    (
        "checkpoint_is_the_last_effect",
        "UPDATE ingestion_checkpoint SET last_applied = last_applied + 1",
        "SELECT 'helpdesk-eu'",
    ),
    (
        "a_finished_call_has_an_outcome",
        f"UPDATE ingestion_providercall SET outcome = NULL WHERE client_request_id = ({CALL})",
        CALL,
    ),
    (
        "tokens_and_cost_agree",
        f"UPDATE ingestion_providercall SET prompt_tokens = 0 WHERE client_request_id = ({CALL})",
        CALL,
    ),
    (
        "every_output_was_paid",
        f"DELETE FROM ingestion_providercall WHERE client_request_id = ({CALL})",
        JOB,
    ),
    (
        "calls_belong_to_a_claim",
        f"UPDATE ingestion_providercall SET generation = 5 WHERE client_request_id = ({CALL})",
        CALL,
    ),
    (
        "totals_equal_the_ledger",
        "ALTER TABLE ingestion_providercall DISABLE TRIGGER ALL; UPDATE ingestion_providercall SET "
        f"job_id = gen_random_uuid() WHERE client_request_id = ({CALL})",
        "SELECT format('calls: %s of %s', count(*) - 1, count(*)) FROM ingestion_providercall",
    ),
]
