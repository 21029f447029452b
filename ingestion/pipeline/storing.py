"""From the stored file to the saved text of a version."""

import hashlib

from django.core.files.storage import default_storage
from django.db import transaction

from ingestion import connections
from ingestion.models import DocumentVersion
from ingestion.pipeline.reading import read_text
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Rejected


def text_hash(text: str) -> str:
    """SHA-256 of a normalised text: the same hash, the same summary."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_file(version: DocumentVersion) -> bytes:
    """The bytes as uploaded. Raises Rejected when they are not those whose hash was recorded."""
    with default_storage.open(version.storage_key, "rb") as stored:
        content: bytes = stored.read()
    if hashlib.sha256(content).hexdigest() != version.sha256:
        raise Rejected("file_damaged", "The stored file is not the one that was uploaded; upload it again.")
    return content


def ensure_text(claim: Claim, version: DocumentVersion) -> str:
    """The version's normalised text is saved; returns it."""
    if version.text is not None:
        return version.text
    text = read_text(read_file(version), media_type=version.media_type, charset=version.charset)
    with connections.brief(), transaction.atomic():
        settling.fence(claim, done=0, total=0)
        DocumentVersion.objects.filter(id=version.id).update(text=text, text_sha256=text_hash(text))
    version.text, version.text_sha256 = text, text_hash(text)
    return text
