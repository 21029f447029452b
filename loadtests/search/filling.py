"""A library of published policies with old versions, put straight into the tables of an installation of its own.

Texts are sentences of the policies that come with the product, so that common words are as common as in real ones.
Vectors lie around topics, as those of real texts do, and are the same in every run. Nothing is measured here.
"""

import random
import re
from collections.abc import Iterator

import psycopg

from ingestion.corpus import corpus_documents
from loadtests.recording import say

CHUNKS_A_DOCUMENT, OLD_VERSIONS, TOPICS, DIMENSION = 50, 10, 400, 384
SENTENCES_A_CHUNK = 6
SPACE = f"embed-small/{DIMENSION}"

ROWS = """
INSERT INTO ingestion_caller (name, rights, is_active) VALUES ('library', '{}', true);
INSERT INTO ingestion_document (slug, title, latest_number)
SELECT 'policy-' || n, 'Policy ' || n, %(versions)s FROM generate_series(1, %(documents)s) AS n;
CREATE TEMP TABLE plan AS
SELECT uuidv7() AS job, document.id AS document, number
FROM ingestion_document AS document, generate_series(1, %(versions)s) AS number;
INSERT INTO ingestion_job (id, queue, kind, state, caller_id, max_attempts, units, bytes, generation, attempt,
                           finished_at)
SELECT job, 'documents', 'ingest_version', 'succeeded', caller.id, 5, 1, 1, 1, 1, now()
FROM plan, ingestion_caller AS caller WHERE caller.name = 'library';
INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome) SELECT job, 1, 1, 'succeeded' FROM plan;
INSERT INTO ingestion_documentversion (document_id, number, job_id, title, sha256, bytes, media_type, storage_key,
                                       chunk_count, published_at, superseded_at)
SELECT document, number, job, 'Policy ' || document, repeat('0', 64), 1, 'text/plain', 'library/' || job,
       %(chunks)s, now(), CASE WHEN number < %(versions)s THEN now() END
FROM plan;
UPDATE ingestion_document AS document SET published_id = version.id FROM ingestion_documentversion AS version
WHERE version.document_id = document.id AND version.number = %(versions)s;
CREATE TABLE library_text (number bigint PRIMARY KEY, text text NOT NULL);
CREATE TABLE library_topic AS
SELECT topic, (SELECT array_agg(random_normal()) FROM generate_series(1, %(dimension)s + 0 * topic)) AS centre
FROM generate_series(0, %(topics)s - 1) AS topic;
"""
# Old versions carry their vectors in full; their words are in no index, so that a short text stands for them.
CHUNKS = """
INSERT INTO ingestion_chunk (job_id, version_id, position, start, "end", heading_path, text, input_hash, tokens,
                             is_searchable)
SELECT version.job_id, version.id, place, place * 1000, place * 1000 + 1000, ARRAY['Policy', 'Part ' || place],
       coalesce(known.text, 'Superseded.'), md5(version.id || '/' || place), 120, version.superseded_at IS NULL
FROM ingestion_documentversion AS version
CROSS JOIN generate_series(0, %(chunks)s - 1) AS place
LEFT JOIN library_text AS known
  ON version.superseded_at IS NULL AND known.number = (version.document_id - 1) * %(chunks)s + place
"""
# A version's chunk keeps to its topic and moves a little from version to version: neighbours are what crowds a top.
VECTORS = """
INSERT INTO ingestion_chunkvector (chunk_id, embedding_version, input_hash, vector)
SELECT chunk.id, %(space)s, chunk.input_hash,
       (SELECT array_agg(part + 0.9 * random_normal()) FROM unnest(topic.centre) AS part)::vector
FROM ingestion_chunk AS chunk
JOIN ingestion_documentversion AS version ON version.id = chunk.version_id
JOIN library_topic AS topic ON topic.topic = (version.document_id * 7 + chunk.position) %% %(topics)s
"""
SEARCHABLE = """
INSERT INTO ingestion_searchablevector (chunk_id, document_id, embedding_version, vector)
SELECT chunk.id, version.document_id, known.embedding_version, l2_normalize(known.vector)::halfvec
FROM ingestion_chunk AS chunk
JOIN ingestion_documentversion AS version ON version.id = chunk.version_id AND version.superseded_at IS NULL
JOIN ingestion_chunkvector AS known ON known.chunk_id = chunk.id
"""


def fill(database_url: str, chunks: int) -> None:
    """So many published chunks stand in the library, each document with ten superseded versions of the same size."""
    documents = chunks // CHUNKS_A_DOCUMENT
    values = {
        "documents": documents, "versions": OLD_VERSIONS + 1, "chunks": CHUNKS_A_DOCUMENT, "topics": TOPICS,
        "dimension": DIMENSION, "space": SPACE,
    }  # fmt: skip
    with psycopg.connect(database_url, autocommit=True) as own:
        # The same numbers in every run; nothing here has to survive a crash.
        for setting in ("setseed(0.5)", "set_config('synchronous_commit', 'off', false)",
                        "set_config('max_parallel_workers_per_gather', '0', false)"):  # fmt: skip
            own.execute(f"SELECT {setting}".encode())
        for statement in ROWS.split(";\n"):
            if statement.strip():
                _run(own, statement, values)
        with own.cursor().copy(b"COPY library_text (number, text) FROM STDIN") as copy:
            for number, text in enumerate(_texts(chunks)):
                copy.write_row((number, text))
        for what, statement in (("chunks", CHUNKS), ("vectors", VECTORS)):
            say(f"  {what}")
            _run(own, statement, values)
        say("  searchable vectors")
        # Built in one go, with the product's own definition: row by row it takes minutes.
        row = own.execute(b"SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchone()
        assert row is not None
        name, definition = row
        own.execute(f"DROP INDEX {name}".encode())
        _run(own, SEARCHABLE, values)
        own.execute(b"SET maintenance_work_mem = '512MB'")
        own.execute(definition.encode())
        own.execute(b"VACUUM ANALYZE")


def _run(own: psycopg.Connection, statement: str, values: dict[str, object]) -> None:
    used = {name: value for name, value in values.items() if f"%({name})s" in statement}
    # Bound by the client: a statement that makes a table takes no parameters.
    psycopg.ClientCursor(own).execute(statement.encode(), used or None)


def _texts(count: int) -> Iterator[str]:
    sentences = sorted(
        {
            one.strip()
            for text in corpus_documents().values()
            for one in re.split(r"(?<=[.?!])\s+", text)
            if len(one) > 30
        }
    )
    chance = random.Random(1)
    for number in range(count):
        yield " ".join(chance.choices(sentences, k=SENTENCES_A_CHUNK)) + f" Case {number}."
