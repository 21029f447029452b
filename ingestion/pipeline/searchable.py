"""What search may find: the chunks of published versions and their vectors, put there and taken away in a transaction.

Called while the document's row is locked, so that what is searchable and what is published change together.
"""

from django.db import connection

from ingestion.models import Chunk, EmbeddingSpace, SearchableVector

# Of length 1, so that half precision holds whatever a model gives and the index needs no division.
ENTER = """
INSERT INTO ingestion_searchablevector (chunk_id, document_id, embedding_version, vector)
SELECT chunk.id, version.document_id, known.embedding_version, l2_normalize(known.vector)::halfvec
FROM ingestion_documentversion AS version
JOIN ingestion_chunk AS chunk ON chunk.version_id = version.id
JOIN ingestion_chunkvector AS known ON known.chunk_id = chunk.id
WHERE version.id = %(version)s AND (%(space)s::text IS NULL OR known.embedding_version = %(space)s)
ON CONFLICT (chunk_id, embedding_version) DO NOTHING
"""

# By the ids of the versions, whatever the table's statistics say: a join with itself was planned over every chunk.
HIDE = """
UPDATE ingestion_chunk SET is_searchable = false
WHERE is_searchable AND version_id = ANY(ARRAY(
    SELECT version.id FROM ingestion_documentversion AS version WHERE version.document_id = %(document)s
))
"""


def enter(version_id: int) -> None:
    """All chunks of the version can be found, in each space that they have vectors of."""
    Chunk.objects.filter(version_id=version_id).update(is_searchable=True)
    _enter_vectors(version_id, None)


def enter_space(version_id: int, space: EmbeddingSpace) -> None:
    """The published version can be found in this space too."""
    _enter_vectors(version_id, space.name)


def leave(document_id: int) -> None:
    """Nothing of the document can be found."""
    SearchableVector.objects.filter(document_id=document_id).delete()
    with connection.cursor() as cursor:
        cursor.execute(HIDE, {"document": document_id})


def missing_vectors(version_id: int, space: EmbeddingSpace) -> int:
    """How many chunks of the version have no vector in this space."""
    return Chunk.objects.filter(version_id=version_id).exclude(vectors__embedding_version=space.name).count()


def _enter_vectors(version_id: int, space: str | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ENTER, {"version": version_id, "space": space})
