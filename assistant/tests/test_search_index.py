"""The approximate index at work: over published chunks alone, used at size, and it misses next to nothing."""

import random
from collections.abc import Sequence

import pytest
from django.db import connection

from assistant import search
from assistant.statements import search_statement
from ingestion.models import (
    Caller,
    Chunk,
    ChunkVector,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    Job,
    SearchableVector,
)
from ingestion.pipeline import searchable
from ingestion.pipeline.vector_index import ensure_index, has_index, index_name

pytestmark = pytest.mark.django_db

SPACE = EmbeddingSpace("embed-small", 32)
DOCUMENTS, CHUNKS, VERSIONS, TOPICS, ASKED, TOP = 12, 20, 11, 12, 30, 10

Vectors = Sequence[Sequence[float]]


class Library:
    """Documents whose versions each move a little around their topics, published one after the other."""

    def __init__(self) -> None:
        chance = random.Random(4)
        self.topics = [[chance.gauss(0, 1) for _ in range(SPACE.dimension)] for _ in range(TOPICS)]
        self.chance = chance
        owner = Caller.objects.create(name="kwame", rights=["upload"])
        for number in range(1, VERSIONS + 1):
            for document in range(DOCUMENTS):
                self._publish(owner, document, number)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE ingestion_searchablevector, ingestion_chunkvector, ingestion_chunk")

    def near(self, topic: int) -> list[float]:
        return [value + self.chance.gauss(0, 0.8) for value in self.topics[topic % TOPICS]]

    def _publish(self, owner: Caller, slug: int, number: int) -> None:
        document, _ = Document.objects.get_or_create(slug=f"policy-{slug}", defaults={"title": "Policy"})
        job = Job.objects.create(
            queue="documents", kind="ingest_version", state="succeeded", caller=owner, max_attempts=5, units=1, bytes=1,
            finished_at="2026-11-30T00:00:00Z",
        )  # fmt: skip
        version = DocumentVersion.objects.create(
            document=document, number=number, job=job, title="Policy", sha256="0" * 64, bytes=1, chunk_count=CHUNKS,
            media_type="text/plain", storage_key=f"{slug}/{number}",
        )  # fmt: skip
        chunks = Chunk.objects.bulk_create(
            Chunk(job=job, version=version, position=place, start=place, end=place + 1, text="x",
                  input_hash=f"{slug}/{number}/{place}", tokens=1)
            for place in range(CHUNKS)
        )  # fmt: skip
        ChunkVector.objects.bulk_create(
            ChunkVector(chunk=chunk, embedding_version=SPACE.name, input_hash=chunk.input_hash,
                        vector=self.near(slug * CHUNKS + chunk.position))
            for chunk in chunks
        )  # fmt: skip
        searchable.leave(document.pk)
        searchable.enter(version.pk)
        Document.objects.filter(pk=document.pk).update(published=version)


@pytest.fixture
def library() -> Library:
    ensure_index(SPACE)
    return Library()


def prefer(index: str) -> None:
    """Plans use this index or a scan of all rows, however small the table is."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = %s", ["off" if index == "near" else "on"])
        cursor.execute("SET LOCAL enable_sort = %s", ["off" if index == "near" else "on"])


def first(vector: Sequence[float], space: EmbeddingSpace = SPACE) -> set[tuple[str, int, int]]:
    found = search.ranked("x", vector, space, limit=TOP, word_share=0.0)
    return {(one.document, one.version, one.position) for one in found}


def exact(vector: Sequence[float]) -> set[tuple[str, int, int]]:
    """The nearest published chunks, by a comparison with every one of them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT document.slug, version.number, chunk.position FROM ingestion_chunkvector AS known "
            "JOIN ingestion_chunk AS chunk ON chunk.id = known.chunk_id "
            "JOIN ingestion_documentversion AS version ON version.id = chunk.version_id "
            "JOIN ingestion_document AS document ON document.published_id = version.id "
            "WHERE known.embedding_version = %s ORDER BY known.vector <=> %s::vector LIMIT %s",
            [SPACE.name, search._literal(vector), TOP],
        )
        return set(cursor.fetchall())


def test_it_finds_what_an_exact_scan_finds_with_ten_old_versions_of_every_document_present(library: Library) -> None:
    assert DocumentVersion.objects.count() == DOCUMENTS * VERSIONS
    assert SearchableVector.objects.count() == DOCUMENTS * CHUNKS
    questions = [library.near(topic) for topic in range(ASKED)]
    right = [exact(vector) for vector in questions]
    prefer("near")
    assert index_name(SPACE) in plan(questions[0])
    found = [first(vector) for vector in questions]
    recall = sum(len(one & other) for one, other in zip(right, found, strict=True)) / (ASKED * TOP)
    assert recall >= 0.99
    assert all(len(one) == TOP for one in found)
    assert {version for one in found for _, version, _ in one} == {VERSIONS}
    # The control: an index over all versions, filtered afterwards, is crowded out by the old ones.
    assert crowded(questions) < 0.5


def crowded(questions: Vectors) -> float:
    """The recall of the usual mistake: nearest of everything first, what is published afterwards."""
    right = [exact(vector) for vector in questions]
    found = []
    with connection.cursor() as cursor:
        for vector in questions:
            cursor.execute(
                "SELECT document.slug, version.number, chunk.position FROM ("
                "SELECT chunk_id FROM ingestion_chunkvector WHERE embedding_version = %s "
                "ORDER BY vector <=> %s::vector LIMIT %s) AS near "
                "JOIN ingestion_chunk AS chunk ON chunk.id = near.chunk_id "
                "JOIN ingestion_documentversion AS version ON version.id = chunk.version_id "
                "JOIN ingestion_document AS document ON document.published_id = version.id",
                [SPACE.name, search._literal(vector), 4 * TOP],
            )
            found.append(set(cursor.fetchall()))
    return sum(len(one & other) for one, other in zip(right, found, strict=True)) / (len(questions) * TOP)


def plan(vector: Sequence[float]) -> str:
    """How the whole statement is run."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN {search_statement(SPACE, in_one=False)}",
            {"question": "x", "vector": search._literal(vector), "word_share": 0.0, "limit": TOP},
        )
        return "\n".join(row[0] for row in cursor.fetchall())


def test_one_document_is_searched_exactly_and_without_the_index(library: Library) -> None:
    vector = library.near(3)
    document = Document.objects.get(slug="policy-3")
    scope = (document.pk, document.published_id)
    found = search.ranked("x", vector, SPACE, limit=50, scope=scope, word_share=0.0)
    assert {(one.document, one.version) for one in found} == {("policy-3", VERSIONS)}
    assert [one.position for one in found] == in_order(vector, document)
    text = search_statement(SPACE, in_one=True)
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN {text}",
            {"question": "x", "vector": search._literal(vector), "word_share": 0.0, "limit": TOP,
             "document": scope[0], "version": scope[1]},
        )  # fmt: skip
        assert index_name(SPACE) not in "\n".join(row[0] for row in cursor.fetchall())


def in_order(vector: Sequence[float], document: Document) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT chunk.position FROM ingestion_chunk AS chunk "
            "JOIN ingestion_chunkvector AS known ON known.chunk_id = chunk.id WHERE chunk.version_id = %s "
            "ORDER BY known.vector <=> %s::vector",
            [document.published_id, search._literal(vector)],
        )
        return [row[0] for row in cursor.fetchall()]


def test_rows_that_were_deleted_a_moment_ago_take_nobodys_place(library: Library) -> None:
    """Dead rows stay in the index until it is vacuumed: the search goes on behind them."""
    prefer("near")
    vector = library.near(1)
    for slug in range(DOCUMENTS - 4):
        searchable.leave(Document.objects.get(slug=f"policy-{slug}").pk)
    found = search.ranked("x", vector, SPACE, limit=50, word_share=0.0)
    assert len(found) == 50
    assert {one.document for one in found} <= {f"policy-{slug}" for slug in range(DOCUMENTS - 4, DOCUMENTS)}


def test_an_index_that_was_broken_off_is_built_again() -> None:
    assert ensure_index(SPACE)
    assert not ensure_index(SPACE)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [index_name(SPACE)]
        )  # fmt: skip
    assert not has_index(SPACE)
    assert ensure_index(SPACE)
    assert has_index(SPACE)
