"""The files of versions as the storage lists them: which are old and belong to no version, and how one is let go."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from django.conf import settings
from django.core.files.storage import default_storage

from ingestion.models import DocumentVersion

FOLDER = "versions"
# The storage key of a version whose file is no longer kept begins so.
PRUNED = "pruned/"
KEYS_AT_ONCE = 500


def old_files() -> Iterator[str]:
    """The keys of stored files that no version names and that are older than ORPHAN_GRACE_SECONDS.

    The grace is for uploads on their way: a file is stored before its row is committed. The rows are asked for after
    the files were listed, so that a file whose upload commits in between is not taken for one without a row.
    """
    keys = _old_keys()
    while some := list(islice(keys, KEYS_AT_ONCE)):
        known = set(DocumentVersion.objects.filter(storage_key__in=some).values_list("storage_key", flat=True))
        yield from (key for key in some if key not in known)


def _old_keys() -> Iterator[str]:
    edge = datetime.now(UTC) - timedelta(seconds=settings.ORPHAN_GRACE_SECONDS)
    for key in list(_walk(FOLDER)):
        try:
            changed = default_storage.get_modified_time(key)
        except OSError:
            # Deleted since it was listed.
            continue
        if changed < edge:
            yield key


def _walk(folder: str) -> Iterator[str]:
    """The keys of all files below the folder; nothing where it does not exist."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in sorted(files))
    for name in sorted(folders):
        yield from _walk(f"{folder}/{name}")
