"""An event's effect on the usage projection, inside the transaction that settles its job.

Nothing here decides whether an event was applied before; that is `applying`.
"""

from collections.abc import Iterable
from datetime import date

from django.db import connection

from ingestion.events import values
from ingestion.events.sql import statement
from ingestion.events.types import Change
from ingestion.models import Document, DocumentVersion

COLUMNS = ("views", "citations", "ratings", "rating_sum", "resolved")


def add_usage(changes: list[Change], day: date) -> None:
    """The day's rows of the changes' documents have grown. Raises Rejected where one names what is not there."""
    documents = _documents(changes)
    rows = sorted(
        ((documents[change.document], change.version or 0, change) for change in changes), key=lambda row: row[:2]
    )
    for pk, version, change in rows:
        if version:
            _check_version(pk, version, change.document)
    with connection.cursor() as cursor:
        cursor.execute(
            statement("add_usage"),
            {
                "date": day,
                "documents": [pk for pk, _, _ in rows],
                "versions": [version for _, version, _ in rows],
                **{column: [getattr(change, column) for _, _, change in rows] for column in COLUMNS},
            },
        )


def _documents(changes: Iterable[Change]) -> dict[str, int]:
    """The key of each named document. One that never existed or was deleted is poison."""
    wanted = {change.document for change in changes}
    found = dict(Document.objects.filter(slug__in=wanted, deleted_at=None).values_list("slug", "pk"))
    missing = sorted(wanted - found.keys())
    if missing:
        values.refuse("document", f"names {missing[0]!r}: there is no such document.")
    return found


def _check_version(document: int, number: int, slug: str) -> None:
    """A version that never existed, or went with a deleted document, is poison."""
    if not DocumentVersion.objects.filter(document=document, number=number, deleted_at=None).exists():
        values.refuse("version", f"names version {number} of {slug!r}: there is no such version.")
