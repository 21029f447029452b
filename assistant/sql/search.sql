-- Guarantee: only chunks of a document's published version, of no deleted document; `limit` rows where that many
-- such chunks have a vector of the asked embedding version. One statement: one snapshot, so a publish in between
-- can't mix two versions. Vectors and words each rank their best; the ranks are fused (reciprocal rank fusion).
WITH asked AS (
    SELECT %(vector)s::vector AS vector
), readable AS NOT MATERIALIZED (
    SELECT chunk.id, chunk.words
    FROM ingestion_chunk AS chunk
    JOIN ingestion_document AS document ON document.published_id = chunk.version_id
    WHERE chunk.is_searchable AND document.deleted_at IS NULL
      AND (%(document)s::text IS NULL OR document.slug = %(document)s)
), term AS MATERIALIZED (
    -- Any word of the question may match, and the rarer it is in what can be read, the more it tells: a question
    -- has words that its answer lacks, and words that every policy has. A lexeme is plain text for 'simple'.
    SELECT found.word, ln(1 + total.chunks / (1.0 + holding.chunks))::float8 AS weight
    FROM (
        SELECT plainto_tsquery('simple', lexeme) AS word FROM unnest(to_tsvector('english', %(question)s))
    ) AS found
    CROSS JOIN (SELECT count(*) AS chunks FROM readable) AS total
    CROSS JOIN LATERAL (SELECT count(*) AS chunks FROM readable WHERE readable.words @@ found.word) AS holding
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
    GROUP BY readable.id
    ORDER BY weight DESC, readable.id
    LIMIT %(depth)s
), fused AS (
    SELECT id, sum(share) AS score
    FROM (
        SELECT id, 1.0 / (%(smoothing)s + rank() OVER (ORDER BY distance)) AS share FROM near
        UNION ALL
        SELECT id, 1.0 / (%(smoothing)s + rank() OVER (ORDER BY weight DESC)) FROM worded
    ) AS ranked
    GROUP BY id
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
