"""Publishing: in one transaction the document points at the new version, and its job is settled with it."""

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from ingestion import traces
from ingestion.models import Chunk, Corpus, Document, DocumentVersion, embedding_space
from ingestion.pipeline import searchable
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Rejected


class IncompleteVersion(Exception):
    """A version without all its chunks and vectors must never be published."""

    code = "incomplete_version"


@traces.step("publish")
def publish(claim: Claim, version_id: int) -> None:
    """The version is the published one, unless a higher number is; then it is superseded at once.

    Runs in the transaction that settles the job. Lock order: document, corpus, then by the settlement job and depth.
    """
    number, document_id = DocumentVersion.objects.values_list("number", "document_id").get(id=version_id)
    document = Document.objects.select_for_update(no_key=True).get(id=document_id)
    version = DocumentVersion.objects.get(id=version_id)
    if document.deleted_at or version.deleted_at:
        # A deletion cancels the job, and then the settlement finds the claim lost; this one was revived beside it.
        raise Rejected("document_deleted", "The document was deleted.")
    _check_complete(claim, version)
    current = document.published
    if current and current.number > number:
        DocumentVersion.objects.filter(id=version_id).update(superseded_at=Now())
        return
    if current:
        DocumentVersion.objects.filter(id=current.id).update(superseded_at=Now())
        searchable.leave(document_id)
    DocumentVersion.objects.filter(id=version_id).update(published_at=Now())
    searchable.enter(version_id)
    document.published, document.title = version, version.title
    document.save(update_fields=["published", "title"])
    bump_corpus()
    # Read again under the corpus' lock: a switch to other vectors came before this publish, or comes after it.
    _check_complete(claim, version)


def bump_corpus() -> None:
    """Answers that were cached before this transaction commits are no longer found."""
    assert transaction.get_connection().in_atomic_block
    Corpus.objects.filter(id=1).update(generation=F("generation") + 1)


def _check_complete(claim: Claim, version: DocumentVersion) -> None:
    chunks = Chunk.objects.filter(job_id=claim.id).count()
    missing = searchable.missing_vectors(version.id, embedding_space())
    if not chunks or version.chunk_count != chunks or missing:
        raise IncompleteVersion(f"{chunks - missing} vectors for {chunks} of {version.chunk_count} chunks")
