-- Guarantee: only chunks of a document's published version, of no deleted document; `limit` rows where that many
-- such chunks have a vector of the asked embedding version. One statement: one snapshot, so a publish in between
-- can't mix two versions. Vectors and words each propose their best, `depth` of them; of those alone both are
-- measured, and the weighted sum of the two decides.
-- The names in braces are put in as constants before the statement is prepared: an index over one embedding version,
-- and a plan made for any parameters, need them. `near` is the only part that may be approximate.
WITH spoken AS MATERIALIZED (
    -- The languages that can be read now; each has its own stop words and stems.
    SELECT name, name::regconfig AS rules
    FROM unnest({languages}) AS known(name)
    WHERE EXISTS (SELECT FROM ingestion_chunk AS chunk WHERE chunk.is_searchable AND chunk.language = known.name)
), total AS MATERIALIZED (
    SELECT greatest(1, {total})::float8 AS chunks
), usual AS MATERIALIZED (
    -- Words that were in so many chunks when the table was last analysed: nothing is read to learn that again.
    SELECT known.lexeme, known.share
    FROM pg_stats AS held, total, unnest(held.most_common_elems::text::text[], held.most_common_elem_freqs::float8[])
        AS known(lexeme, share)
    WHERE held.tablename = 'ingestion_chunk' AND held.schemaname = current_schema() AND held.attname = 'words'
      AND known.share * total.chunks >= {common}
), term AS MATERIALIZED (
    -- Any word of the question may match, and the rarer it is in what can be read, the more it tells: a question
    -- has words that its answer lacks, and words that every policy has. A lexeme is plain text for 'simple'.
    -- Reading stops at `common`: a word in so many chunks singles nothing out, and proposes nobody.
    SELECT found.language, found.word, ln(1 + total.chunks / (1 + coalesce(usual.share * total.chunks, holding.chunks)))
           AS weight, CASE WHEN holding.chunks < {common} THEN holding.ids END AS ids
    FROM (
        SELECT spoken.name AS language, lexeme, plainto_tsquery('simple', lexeme) AS word
        FROM spoken, unnest(to_tsvector(spoken.rules, %(question)s::text))
    ) AS found
    CROSS JOIN total
    LEFT JOIN usual ON usual.lexeme = found.lexeme
    CROSS JOIN LATERAL (
        SELECT count(*) AS chunks, array_agg(counted.id) AS ids
        FROM (
            SELECT chunk.id FROM ingestion_chunk AS chunk
            WHERE usual.lexeme IS NULL
              AND chunk.is_searchable AND chunk.words @@ found.word AND chunk.language = found.language {this_version}
            LIMIT {common}
        ) AS counted
    ) AS holding
    WHERE holding.chunks > 0 OR usual.lexeme IS NOT NULL
), heaviest AS MATERIALIZED (
    SELECT language, sum(weight) AS weight FROM term GROUP BY language
), near AS MATERIALIZED (
    SELECT held.chunk_id AS id
    FROM ingestion_searchablevector AS held
    WHERE held.embedding_version = {space} {this_vector}
    ORDER BY held.vector{as_indexed} <#> %(vector)s::halfvec({dimension})
    LIMIT {depth}
), worded AS MATERIALIZED (
    SELECT proposed.id, sum(term.weight / heaviest.weight) AS share
    FROM term
    JOIN heaviest ON heaviest.language = term.language
    CROSS JOIN unnest(term.ids) AS proposed(id)
    GROUP BY proposed.id
    ORDER BY share DESC, proposed.id
    LIMIT {depth}
), measured AS (
    SELECT proposed.id,
           coalesce(1 - (known.vector::vector({dimension}) <=> %(vector)s::vector({dimension})), 0) AS nearness,
           coalesce((SELECT sum(term.weight) FROM term
                     WHERE term.language = chunk.language AND chunk.words @@ term.word)
                    / (SELECT weight FROM heaviest WHERE heaviest.language = chunk.language), 0) AS wording
    FROM (SELECT id FROM near UNION SELECT id FROM worded) AS proposed
    JOIN ingestion_chunk AS chunk ON chunk.id = proposed.id
    JOIN ingestion_document AS document ON document.published_id = chunk.version_id AND document.deleted_at IS NULL
    LEFT JOIN ingestion_chunkvector AS known
      ON known.chunk_id = proposed.id AND known.embedding_version = {space}
), fused AS (
    SELECT id, (1 - %(word_share)s::float8) * nearness + %(word_share)s::float8 * wording AS score
    FROM measured
    ORDER BY score DESC, id
    LIMIT %(limit)s::bigint
)
SELECT document.slug, version.title, version.number, chunk.position, chunk.heading_path, chunk.start, chunk."end",
       chunk.text, chunk.embedding_prefix, chunk.tokens, fused.score::float8
FROM fused
JOIN ingestion_chunk AS chunk ON chunk.id = fused.id
JOIN ingestion_documentversion AS version ON version.id = chunk.version_id
JOIN ingestion_document AS document ON document.id = version.document_id
ORDER BY fused.score DESC, fused.id
