"""The approximate index of an embedding version: an HNSW graph over the searchable vectors of that version alone.

Its expression carries the dimension and its condition the version, so that each space has an index of its own. It is
no part of the migrations, since which spaces there are is decided while the product runs.
"""

import hashlib

from django.db import connection
from psycopg import sql

from ingestion.models import EmbeddingSpace

# pgvector's own defaults. What they miss at 100,000 chunks is in loadtests/results/search; a wider graph would cost
# every publishing more.
LINKS, BUILD_WIDTH = 16, 64
# An index of half-precision numbers takes no more dimensions.
DIMENSION_MAX = 4_000

STATE = """
SELECT index.indisvalid FROM pg_index AS index JOIN pg_class AS named ON named.oid = index.indexrelid
WHERE named.relname = %s AND index.indrelid = 'ingestion_searchablevector'::regclass
"""
CREATE = """
CREATE INDEX {mode} {name} ON ingestion_searchablevector
USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops) WITH (m = {links}, ef_construction = {width})
WHERE embedding_version = {version}
"""


def index_name(space: EmbeddingSpace) -> str:
    """A name that fits, whatever the model is called."""
    return f"searchable_near_{hashlib.sha256(space.name.encode()).hexdigest()[:16]}"


def has_index(space: EmbeddingSpace) -> bool:
    """Whether searches in this space can use an index."""
    return _state(index_name(space)) is True


def ensure_index(space: EmbeddingSpace, *, concurrently: bool = False) -> bool:
    """The space has its index; True: it was made now. With `concurrently` nobody waits for it meanwhile.

    Outside a transaction then. What an interrupted build left is replaced. A space too wide for an index is searched
    exactly, which costs more and finds the same.
    """
    name = index_name(space)
    state = _state(name)
    if state is True or space.dimension > DIMENSION_MAX:
        return False
    with connection.cursor() as cursor:
        if state is False:
            cursor.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(name)))
        cursor.execute(
            sql.SQL(CREATE).format(
                mode=sql.SQL("CONCURRENTLY IF NOT EXISTS" if concurrently else "IF NOT EXISTS"),
                name=sql.Identifier(name),
                dimension=sql.Literal(space.dimension),
                links=sql.Literal(LINKS),
                width=sql.Literal(BUILD_WIDTH),
                version=sql.Literal(space.name),
            )
        )
    return True


def _state(name: str) -> bool | None:
    """Whether the index is whole; None: there is none."""
    with connection.cursor() as cursor:
        cursor.execute(STATE, [name])
        row = cursor.fetchone()
    return None if row is None else bool(row[0])
