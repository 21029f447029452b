"""From the stored file to the saved text of a version.

The text is saved once and never made again: offsets of chunks and citations point into it, whatever a later converter
would make of the same file.
"""

import hashlib

from django.core.files.storage import default_storage
from django.db import transaction

from ingestion import connections
from ingestion.models import DocumentVersion
from ingestion.pipeline.converting import running
from ingestion.pipeline.markup import decode_page
from ingestion.pipeline.media_types import CONVERTED, HTML
from ingestion.pipeline.reading import normalise, read_text
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import ClaimLost, Rejected


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
    text = _text_of(claim, version)
    with connections.brief(), transaction.atomic():
        settling.fence(claim, done=0, total=0)
        DocumentVersion.objects.filter(id=version.id).update(text=text, text_sha256=text_hash(text))
    version.text, version.text_sha256 = text, text_hash(text)
    return text


def _text_of(claim: Claim, version: DocumentVersion) -> str:
    """The normalised text of the file. Raises ReadingError, or ClaimLost when a conversion is no longer wanted."""
    content = read_file(version)
    if version.media_type not in CONVERTED:
        return read_text(content, media_type=version.media_type, charset=version.charset)
    if version.media_type == HTML:
        content = decode_page(content, version.charset).encode("utf-8")
    try:
        return normalise(running.convert(content, version.media_type, lambda: not claim.lost.is_set()))
    except running.NotWanted:
        raise ClaimLost(f"{claim.kind} {claim.id} was lost while its file was converted") from None
