"""The text of the search statement for one embedding space: `sql/search.sql` with its constants put in."""

from functools import lru_cache
from pathlib import Path

from psycopg import sql

from ingestion.models import EmbeddingSpace
from ingestion.models.languages import LANGUAGES

# How many chunks vectors and words each propose before both are measured; twice the largest limit.
DEPTH = 100
# A word in so many chunks is no longer counted: what a question costs must not grow with the commonest of its words.
COMMON = 500
# From so many searchable chunks on their number is taken from the index's statistics, below it is counted.
COUNTED_MAX = 10_000

TOTAL = """
(SELECT CASE WHEN reltuples >= {counted_max} THEN reltuples ELSE (
    SELECT coalesce(sum(coalesce(version.chunk_count, 1)), 0) FROM ingestion_document AS document
    JOIN ingestion_documentversion AS version ON version.id = document.published_id WHERE document.deleted_at IS NULL
) END FROM pg_class WHERE oid = 'chunk_language'::regclass)
"""

# Everything that is published: the vectors' order is the approximate index' own expression.
EVERYWHERE = {
    "total": TOTAL,
    "this_version": "",
    "this_vector": "",
    "as_indexed": "::halfvec({dimension})",
}
# One document: its few chunks are compared exactly, by an expression that no index has.
IN_ONE = {
    "total": "(SELECT chunk_count FROM ingestion_documentversion WHERE id = %(version)s::bigint)",
    "this_version": "AND chunk.version_id = %(version)s::bigint",
    "this_vector": "AND held.document_id = %(document)s::bigint",
    "as_indexed": "",
}


@lru_cache(maxsize=32)
def search_statement(space: EmbeddingSpace, *, in_one: bool) -> str:
    """The statement over everything, or over one document. Parameters: question, vector, word_share, limit, and for
    one document the ids `document` and `version`."""
    constants = {
        "space": _quoted(space.name),
        "dimension": str(space.dimension),
        "depth": str(DEPTH),
        "common": str(COMMON),
        "counted_max": str(COUNTED_MAX),
        "languages": f"ARRAY[{', '.join(map(_quoted, LANGUAGES))}]",
    }
    scope = {name: part.format(**constants) for name, part in (IN_ONE if in_one else EVERYWHERE).items()}
    return _template().format(**constants, **scope)


def _quoted(text: str) -> str:
    """A text constant of SQL, in a statement that has parameters beside it."""
    return sql.Literal(text).as_string(None).replace("%", "%%")


@lru_cache(maxsize=1)
def _template() -> str:
    return (Path(__file__).parent / "sql" / "search.sql").read_text()
