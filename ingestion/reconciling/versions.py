"""Invariants 3 and 4: what a job makes of its version, and which version is published.

A version whose file was pruned (with its deleted document) has no output any more; its key begins with `pruned/`.
"""

from ingestion.reconciling.rules import Rule

OUTPUT = [
    Rule(
        3,
        "one_chunk_a_position",
        "For each job and position there is one chunk, and it belongs to the job's own version.",
        """
        SELECT format('%%s[%%s]', job_id, position) FROM ingestion_chunk GROUP BY job_id, position HAVING count(*) > 1
        UNION
        SELECT format('%%s[%%s]', chunk.job_id, chunk.position) FROM ingestion_chunk AS chunk
        JOIN ingestion_documentversion AS version ON version.id = chunk.version_id
        WHERE version.job_id <> chunk.job_id
        """,
    ),
    Rule(
        3,
        "positions_without_a_hole",
        "A published version has the chunks 0 to n-1; a superseded one all of them or, pruned, none.",
        """
        SELECT version.id::text FROM ingestion_documentversion AS version
        LEFT JOIN ingestion_chunk AS chunk ON chunk.version_id = version.id
        WHERE version.published_at IS NOT NULL OR version.superseded_at IS NOT NULL
        GROUP BY version.id
        HAVING (version.superseded_at IS NULL OR count(chunk.id) > 0)
           AND (count(chunk.id) = 0 OR min(chunk.position) <> 0 OR max(chunk.position) <> count(chunk.id) - 1
                OR count(chunk.id) IS DISTINCT FROM version.chunk_count)
        """,
    ),
    Rule(
        3,
        "chunks_are_slices",
        "The chunks of a published version follow each other to the end of its text, and each is the exact slice.",
        """
        SELECT format('%%s[%%s]', version_id, position) FROM (
            SELECT chunk.version_id, chunk.position, chunk.start, chunk."end", chunk.text, version.text AS whole,
                   lead(chunk.start) OVER (PARTITION BY chunk.version_id ORDER BY chunk.position) AS following
            FROM ingestion_chunk AS chunk
            JOIN ingestion_document AS document ON document.published_id = chunk.version_id
            JOIN ingestion_documentversion AS version ON version.id = chunk.version_id
        ) AS slices
        WHERE "end" <> coalesce(following, char_length(whole))
           OR text <> substring(whole FROM start + 1 FOR "end" - start)
        """,
    ),
    Rule(
        3,
        "one_vector_a_chunk",
        "Each chunk of a published version has one vector of the embedding version in use, made of its input.",
        """
        SELECT format('%%s[%%s]', chunk.version_id, chunk.position) FROM ingestion_chunk AS chunk
        JOIN ingestion_document AS document ON document.published_id = chunk.version_id
        LEFT JOIN ingestion_chunkvector AS vector
            ON vector.chunk_id = chunk.id AND vector.embedding_version = %(embedding_version)s
        GROUP BY chunk.id
        HAVING count(vector.id) <> 1 OR bool_or(vector.input_hash <> chunk.input_hash)
        """,
    ),
    Rule(
        3,
        "no_chunk_without_a_vector",
        "Each chunk of a succeeded job has a vector.",
        """
        SELECT format('%%s[%%s]', chunk.version_id, chunk.position) FROM ingestion_chunk AS chunk
        JOIN ingestion_job AS job ON job.id = chunk.job_id AND job.state = 'succeeded'
        WHERE NOT EXISTS (SELECT FROM ingestion_chunkvector AS vector WHERE vector.chunk_id = chunk.id)
        """,
    ),
    Rule(
        3,
        "vectors_are_usable",
        "Each vector has the dimension of its embedding version, is finite and is not zero.",
        """
        SELECT vector.id::text FROM ingestion_chunkvector AS vector
        WHERE vector_dims(vector.vector) <> split_part(vector.embedding_version, '/', -1)::int
           OR NOT (vector_norm(vector.vector) > 0 AND vector_norm(vector.vector) < 'Infinity')
        """,
    ),
    Rule(
        3,
        "one_summary_a_job",
        "Each succeeded document job has one summary.",
        """
        SELECT job.id::text FROM ingestion_job AS job
        JOIN ingestion_documentversion AS version ON version.job_id = job.id
        LEFT JOIN ingestion_summary AS summary ON summary.job_id = job.id
        WHERE job.state = 'succeeded' AND version.storage_key NOT LIKE 'pruned/%%'
        GROUP BY job.id HAVING count(summary.id) <> 1
        """,
    ),
]

PUBLISHED = [
    Rule(
        4,
        "published_is_the_highest_succeeded",
        "A document's published version is its highest succeeded one; a deleted document has none.",
        """
        SELECT document.slug FROM ingestion_document AS document
        LEFT JOIN ingestion_documentversion AS published ON published.id = document.published_id
        LEFT JOIN LATERAL (
            SELECT max(version.number) AS number FROM ingestion_documentversion AS version
            JOIN ingestion_job AS job ON job.id = version.job_id AND job.state = 'succeeded'
            WHERE version.document_id = document.id AND version.deleted_at IS NULL AND document.deleted_at IS NULL
        ) AS highest ON true
        WHERE published.number IS DISTINCT FROM highest.number OR published.document_id <> document.id
        """,
    ),
    Rule(
        4,
        "version_times_tell_its_state",
        "A version is marked published while its document points at it; every other succeeded one is superseded.",
        """
        SELECT version.id::text FROM ingestion_documentversion AS version
        JOIN ingestion_job AS job ON job.id = version.job_id
        LEFT JOIN ingestion_document AS document ON document.published_id = version.id
        WHERE (document.id IS NOT NULL) <> (version.published_at IS NOT NULL AND version.superseded_at IS NULL)
           OR (job.state = 'succeeded' AND version.published_at IS NULL AND version.superseded_at IS NULL)
           OR (job.state <> 'succeeded' AND (version.published_at IS NOT NULL OR version.superseded_at IS NOT NULL))
        """,
    ),
    Rule(
        4,
        "searchable_means_published",
        "Exactly the chunks of published versions are searchable.",
        """
        SELECT format('%%s[%%s]', chunk.version_id, chunk.position) FROM ingestion_chunk AS chunk
        LEFT JOIN ingestion_document AS document ON document.published_id = chunk.version_id
        WHERE chunk.is_searchable <> (document.id IS NOT NULL)
        """,
    ),
    Rule(
        4,
        "searchable_vectors_are_those_of_published_chunks",
        "Exactly the chunks of published versions have a searchable vector of the embedding version in use, under "
        "their document, and each searchable vector is the chunk's own.",
        """
        SELECT format('%%s[%%s]', chunk.version_id, chunk.position) FROM ingestion_searchablevector AS held
        JOIN ingestion_chunk AS chunk ON chunk.id = held.chunk_id
        LEFT JOIN ingestion_document AS document ON document.published_id = chunk.version_id
        LEFT JOIN ingestion_chunkvector AS known
            ON known.chunk_id = held.chunk_id AND known.embedding_version = held.embedding_version
        WHERE document.id IS DISTINCT FROM held.document_id OR known.id IS NULL
           OR l2_normalize(known.vector)::halfvec <> held.vector
        UNION
        SELECT format('%%s[%%s]', chunk.version_id, chunk.position) FROM ingestion_chunk AS chunk
        JOIN ingestion_document AS document ON document.published_id = chunk.version_id
        WHERE NOT EXISTS (
            SELECT FROM ingestion_searchablevector AS held
            WHERE held.chunk_id = chunk.id AND held.embedding_version = %(embedding_version)s
        )
        """,
    ),
]

RULES = [*OUTPUT, *PUBLISHED]
