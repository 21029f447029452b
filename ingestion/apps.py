"""The app, and the few rows and the one index that the product relies on."""

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import post_migrate

# One row a queue and one for each thing there is one of. `migrate` provides them each time, so that they are there
# also after a restore of tables without rows.
ROWS = (
    "INSERT INTO ingestion_queuestate (queue) VALUES ('documents'), ('events') ON CONFLICT DO NOTHING",
    "INSERT INTO ingestion_providerstate (id) VALUES (1) ON CONFLICT DO NOTHING",
    "INSERT INTO ingestion_corpus (id) VALUES (1) ON CONFLICT DO NOTHING",
)


def provide_index(sender: Any, using: str, plan: Any = None, **kwargs: Any) -> None:
    """The vectors that are searched have their approximate index, which depends on the model and is no migration."""
    from ingestion.models import SearchableVector, embedding_space
    from ingestion.pipeline.vector_index import ensure_index

    with connections[using].cursor() as cursor:
        tables = connections[using].introspection.table_names(cursor)
    if using == DEFAULT_DB_ALIAS and SearchableVector._meta.db_table in tables:
        ensure_index(embedding_space())


def provide_rows(sender: Any, using: str, plan: Any = None, **kwargs: Any) -> None:
    """The rows of `ROWS` exist; nothing happens before their tables do (a migration backwards)."""
    with connections[using].cursor() as cursor:
        tables = connections[using].introspection.table_names(cursor)
        for statement in ROWS if "ingestion_corpus" in tables else ():
            cursor.execute(statement)


class IngestionConfig(AppConfig):
    name = "ingestion"

    def ready(self) -> None:
        post_migrate.connect(provide_rows, sender=self)
        post_migrate.connect(provide_index, sender=self)
