"""Invariant 6: every version's file is there with its hash, and every stored file has a version.

Files are outside the snapshot: what seems broken is asked for again, because work goes on meanwhile.
"""

import hashlib
from collections.abc import Iterable

from django.core.files.storage import default_storage

from ingestion.models import DocumentVersion
from ingestion.reconciling.rules import SHOWN_MAX, Finding
from ingestion.stored_files import PRUNED, old_files

INVARIANT = 6
READ_BYTES = 1_048_576


def files_are_whole(kept: Iterable[tuple[str, str]]) -> Finding:
    """`kept`: storage key and SHA-256 of each version whose file must be there."""
    broken = sorted(key for key, expected in kept if _hash(key) != expected and _is_still_wanted(key))
    return _finding("files_are_whole", "Every version's file is stored with the recorded hash.", broken)


def files_have_a_version() -> Finding:
    """Looks at the stored files that are older than the grace time."""
    found = sorted(old_files())
    return _finding("files_have_a_version", "Every stored file older than the grace time has a version.", found)


def kept_files() -> list[tuple[str, str]]:
    """Storage key and SHA-256 of every version whose file is kept."""
    versions = DocumentVersion.objects.exclude(storage_key__startswith=PRUNED)
    return list(versions.order_by("id").values_list("storage_key", "sha256"))


def _hash(key: str) -> str | None:
    # Asked first: storages differ in what they raise for a file that is not there.
    if not default_storage.exists(key):
        return None
    digest = hashlib.sha256()
    try:
        with default_storage.open(key, "rb") as stored:
            for part in stored.chunks(READ_BYTES):
                digest.update(part)
    except OSError:
        return None
    return digest.hexdigest()


def _is_still_wanted(key: str) -> bool:
    """`prune` may have taken the file since the snapshot; then the version says so by another key."""
    return DocumentVersion.objects.filter(storage_key=key).exists()


def _finding(name: str, sentence: str, broken: list[str]) -> Finding:
    return Finding(INVARIANT, name, sentence, len(broken), broken[:SHOWN_MAX])
