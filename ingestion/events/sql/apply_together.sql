-- Guarantee: every effect's identity, the projection's growth and the checkpoints' moves, or, where a change names a
-- document or version that is not there, nothing but that name. Usage rows are locked in the order of document,
-- version and day, as `add_usage` locks them; the checkpoints are locked by the caller.
-- An effect's time is the clock's, so that within a partition it tells the order.
WITH named AS MATERIALIZED (
    SELECT added.*, document.id AS document_id
    FROM unnest(
        %(slugs)s::text[], %(versions)s::int[], %(dates)s::date[], %(views)s::bigint[], %(citations)s::bigint[],
        %(ratings)s::bigint[], %(rating_sum)s::bigint[], %(resolved)s::bigint[]
    ) AS added(slug, version, date, views, citations, ratings, rating_sum, resolved)
    LEFT JOIN ingestion_document AS document ON document.slug = added.slug AND document.deleted_at IS NULL
), missing AS MATERIALIZED (
    SELECT slug, version
    FROM named
    WHERE document_id IS NULL OR version > 0 AND NOT EXISTS (
        SELECT FROM ingestion_documentversion AS known
        WHERE known.document_id = named.document_id AND known.number = named.version AND known.deleted_at IS NULL
    )
    LIMIT 1
), marked AS (
    INSERT INTO ingestion_eventeffect (event_id, generation, applied_at)
    SELECT event_id, generation, clock_timestamp()
    FROM unnest(%(events)s::bigint[], %(generations)s::bigint[]) WITH ORDINALITY AS effect(event_id, generation, n)
    WHERE NOT EXISTS (SELECT FROM missing)
    ORDER BY n
), grown AS (
    INSERT INTO ingestion_usageday AS usage
        (document_id, version_number, date, views, citations, ratings, rating_sum, resolved)
    SELECT document_id, version, date, views, citations, ratings, rating_sum, resolved
    FROM named
    WHERE NOT EXISTS (SELECT FROM missing)
    ORDER BY document_id, version, date
    ON CONFLICT (document_id, version_number, date) DO UPDATE
    SET views = usage.views + EXCLUDED.views, citations = usage.citations + EXCLUDED.citations,
        ratings = usage.ratings + EXCLUDED.ratings, rating_sum = usage.rating_sum + EXCLUDED.rating_sum,
        resolved = usage.resolved + EXCLUDED.resolved
), moved AS (
    UPDATE ingestion_checkpoint AS checkpoint
    SET last_applied = greatest(checkpoint.last_applied, reached.sequence), updated_at = now()
    FROM unnest(%(partitions)s::text[], %(sequences)s::bigint[]) AS reached(partition, sequence)
    WHERE checkpoint.partition = reached.partition AND NOT EXISTS (SELECT FROM missing)
)
SELECT slug, version FROM missing
