-- Guarantee: only chunks of a document's published version, of no deleted document; `limit` rows where that many
-- such chunks have a vector of the asked embedding version. One statement: one snapshot, so a publish in between
-- can't mix two versions. Vectors and words each propose their best, `depth` of them; of those alone both are
-- measured, and the weighted sum of the two decides.
WITH asked AS (
    SELECT %(vector)s::vector AS vector
), readable AS NOT MATERIALIZED (
    SELECT chunk.id, chunk.words
    FROM ingestion_chunk AS chunk
    JOIN ingestion_document AS document ON document.published_id = chunk.version_id
    WHERE chunk.is_searchable AND document.deleted_at IS NULL
      AND (%(document)s::text IS NULL OR document.slug = %(document)s)
), total AS MATERIALIZED (
    -- As the versions say, since counting the chunks would read them all.
    SELECT coalesce(sum(coalesce(version.chunk_count, 1)), 0) AS chunks
    FROM ingestion_document AS document
    JOIN ingestion_documentversion AS version ON version.id = document.published_id
    WHERE document.deleted_at IS NULL AND (%(document)s::text IS NULL OR document.slug = %(document)s)
), term AS MATERIALIZED (
    -- Any word of the question may match, and the rarer it is in what can be read, the more it tells: a question
    -- has words that its answer lacks, and words that every policy has. A lexeme is plain text for 'simple'.
    -- Counting stops at `common`: a word in so many chunks singles nothing out, however many more there are.
    SELECT found.word, ln(1 + total.chunks / (1.0 + holding.chunks))::float8 AS weight,
           holding.chunks >= %(common)s AS is_common
    FROM (
        SELECT plainto_tsquery('simple', lexeme) AS word FROM unnest(to_tsvector('english', %(question)s))
    ) AS found
    CROSS JOIN total
    CROSS JOIN LATERAL (
        SELECT count(*) AS chunks
        FROM (SELECT FROM readable WHERE readable.words @@ found.word LIMIT %(common)s) AS counted
    ) AS holding
    WHERE holding.chunks > 0
), near AS MATERIALIZED (
    SELECT readable.id, known.vector::vector(%(dimension)s) <=> asked.vector AS distance
    FROM asked, readable
    JOIN ingestion_chunkvector AS known
      ON known.chunk_id = readable.id AND known.embedding_version = %(embedding_version)s
    ORDER BY distance, readable.id
    LIMIT %(depth)s
), worded AS MATERIALIZED (
    SELECT readable.id, sum(term.weight) AS weight
    FROM term
    JOIN readable ON readable.words @@ term.word
    -- Common words propose nobody, unless the question has no other.
    WHERE NOT term.is_common OR (SELECT bool_and(is_common) FROM term)
    GROUP BY readable.id
    ORDER BY weight DESC, readable.id
    LIMIT %(depth)s
), measured AS (
    SELECT proposed.id,
           coalesce(1 - (known.vector::vector(%(dimension)s) <=> asked.vector), 0) AS nearness,
           coalesce((SELECT sum(term.weight) FROM term WHERE chunk.words @@ term.word)
                    / (SELECT sum(weight) FROM term), 0) AS wording
    FROM asked, (SELECT id FROM near UNION SELECT id FROM worded) AS proposed
    JOIN ingestion_chunk AS chunk ON chunk.id = proposed.id
    LEFT JOIN ingestion_chunkvector AS known
      ON known.chunk_id = proposed.id AND known.embedding_version = %(embedding_version)s
), fused AS (
    SELECT id, (1 - %(word_share)s) * nearness + %(word_share)s * wording AS score
    FROM measured
    ORDER BY score DESC, id
    LIMIT %(limit)s
)
SELECT document.slug, version.title, version.number, chunk.position, chunk.heading_path, chunk.start, chunk."end",
       chunk.text, chunk.embedding_prefix, chunk.tokens, fused.score::float8
FROM fused
JOIN ingestion_chunk AS chunk ON chunk.id = fused.id
JOIN ingestion_documentversion AS version ON version.id = chunk.version_id
JOIN ingestion_document AS document ON document.id = version.document_id
ORDER BY fused.score DESC, fused.id
