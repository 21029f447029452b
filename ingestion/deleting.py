"""Deleting a document: gone from search and answers when the transaction commits; its history stays."""

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from ingestion.models import Document, DocumentVersion, Job
from ingestion.models.jobs import LIVE_STATES
from ingestion.pipeline import searchable
from ingestion.pipeline.publishing import bump_corpus
from ingestion.queue import controlling


@transaction.atomic
def delete_document(slug: str) -> bool:
    """The document is deleted: nothing of it is searchable, its jobs are cancelled. False: there was none.

    Lock order: document, its unfinished jobs, versions, corpus, depth. The jobs come before the versions, as in a
    worker that saves a text under its fence. A worker that publishes at this moment either comes first, or finds the
    document deleted and its claim lost.
    """
    document = Document.objects.select_for_update(no_key=True).filter(slug=slug, deleted_at=None).first()
    if document is None:
        return False
    versions = DocumentVersion.objects.filter(document=document)
    theirs = Q(version__document=document) | Q(reembedding__version__document=document)
    jobs = Job.objects.filter(theirs, state__in=LIVE_STATES).order_by("id")
    live = list(jobs.select_for_update(no_key=True, of=("self",)).values_list("id", flat=True))
    versions.filter(published_at__isnull=False, superseded_at=None).update(superseded_at=Now())
    versions.filter(deleted_at=None).update(deleted_at=Now())
    searchable.leave(document.pk)
    document.published = None
    document.deleted_at = Now()
    document.save(update_fields=["published", "deleted_at"])
    bump_corpus()
    controlling.cancel(live, running_too=True, code="document_deleted", detail="The document was deleted.")
    return True
