"""From a version's text to its saved chunk rows: all of them in one transaction, or none."""

import hashlib

from django.db import transaction

from ingestion import connections
from ingestion.models import Chunk, DocumentVersion
from ingestion.pipeline import languages
from ingestion.pipeline.chunking import chunk_text, embedded_text
from ingestion.pipeline.tokens import count_tokens
from ingestion.queue import settling
from ingestion.queue.claims import Claim

ROWS_AT_ONCE = 500


def input_hash(embedded: str) -> str:
    """SHA-256 of what is sent to be embedded: the same hash, the same vector."""
    return hashlib.sha256(embedded.encode()).hexdigest()


def ensure_chunks(claim: Claim, version: DocumentVersion, text: str) -> None:
    """Each position of the version has its chunk row, and the version knows how many there are."""
    if version.chunk_count is not None:
        return
    with connections.brief():
        language = languages.detect(text)
    rows = []
    for span in chunk_text(text, media_type=version.media_type):
        body = text[span.start : span.end]
        embedded = embedded_text(text, span)
        rows.append(
            Chunk(
                job_id=claim.id,
                version=version,
                position=span.position,
                start=span.start,
                end=span.end,
                heading_path=list(span.heading_path),
                text=body,
                embedding_prefix=span.embedding_prefix,
                input_hash=input_hash(embedded),
                tokens=count_tokens(embedded),
                language=language,
            )
        )
    with connections.brief(), transaction.atomic():
        settling.fence(claim, done=0, total=len(rows))
        Chunk.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
        DocumentVersion.objects.filter(id=version.id).update(chunk_count=len(rows))
    version.chunk_count = len(rows)
