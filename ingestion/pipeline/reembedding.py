"""A job that gives a published version its vectors in another space, while the old ones go on answering."""

from ingestion import connections
from ingestion.models import Document, DocumentVersion, EmbeddingSpace, Reembedding
from ingestion.pipeline import embedding, searchable
from ingestion.pipeline.publishing import IncompleteVersion
from ingestion.provider.errors import NotNow, ProviderRefused
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Done, Outcome, Reject, Wait


def reembed_version(claim: Claim) -> Outcome:
    """Each chunk of the version has its vector in the asked space; the effect of Done lets search find them there.

    Goes on where an earlier delivery stopped, as every batch is saved. A version that is no longer published needs
    no new vectors.
    """
    with connections.brief():
        asked = Reembedding.objects.select_related("version__document").get(job_id=claim.id)
    version, space = asked.version, EmbeddingSpace.named(asked.embedding_version)
    if version.document.published_id != version.id:
        return Done()
    try:
        embedding.ensure_vectors(claim, version, space)
    except NotNow as not_now:
        return Wait(not_now.until, not_now.reason, lane="embeddings")
    except ProviderRefused as error:
        return Reject(error.code, error.detail)
    return Done(effect=lambda: _enter(version, space))


def _enter(version: DocumentVersion, space: EmbeddingSpace) -> None:
    """Under the document's lock, which a publish takes first too: only what is published becomes searchable."""
    document = Document.objects.select_for_update(no_key=True).get(id=version.document_id)
    if document.published_id != version.id:
        return
    if missing := searchable.missing_vectors(version.id, space):
        raise IncompleteVersion(f"{missing} chunks have no vector under {space.name}")
    searchable.enter_space(version.id, space)
