"""A document job from file to published version; a step is finished when its output exists.

Nothing notes which step comes next: a job that is delivered again skips what is saved and goes on at the first
missing output. The provider is called in no transaction; each saved output is fenced by the claim.
"""

import logging

from ingestion import connections, traces
from ingestion.models import DocumentVersion
from ingestion.pipeline import embedding, publishing, splitting, storing, summarizing
from ingestion.pipeline.reading import ReadingError
from ingestion.provider.errors import NotNow, ProviderRefused
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import ClaimLost, Done, Outcome, Reject, Wait

log = logging.getLogger("ingestion.pipeline")


def ingest_version(claim: Claim) -> Outcome:
    """Reads, chunks, summarizes and embeds the version of this job; the effect of Done publishes it."""
    with connections.brief():
        version = DocumentVersion.objects.select_related("document").get(job_id=claim.id)
    try:
        with traces.span("step", "read"):
            text = storing.ensure_text(claim, version)
        with traces.span("step", "chunk"):
            splitting.ensure_chunks(claim, version, text)
        _stop_if_lost(claim)
        with traces.span("step", "summarize"):
            summarizing.ensure_summary(claim, version, text)
        _stop_if_lost(claim)
        with traces.span("step", "embed"):
            embedding.ensure_vectors(claim, version)
    except NotNow as not_now:
        return Wait(not_now.until, not_now.reason, lane=_next_lane(claim))
    except ReadingError as error:
        return Reject(error.code, error.detail)
    except ProviderRefused as error:
        return Reject(error.code, error.detail)
    return Done(effect=lambda: publishing.publish(claim, version.id))


def _next_lane(claim: Claim) -> str:
    """The provider lane of the first missing output."""
    with connections.brief():
        return "embeddings" if summarizing.is_saved(claim) else "chat"


def _stop_if_lost(claim: Claim) -> None:
    """Spares a provider call that nobody would use."""
    if claim.lost.is_set():
        raise ClaimLost(f"{claim.kind} {claim.id} was lost between two steps")
