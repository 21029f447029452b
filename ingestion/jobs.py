"""The table of job kinds: read it to know what runs."""

from ingestion.events.applying import apply_event
from ingestion.events.together import apply_together
from ingestion.pipeline.reembedding import reembed_version
from ingestion.pipeline.steps import ingest_version
from ingestion.queue.kinds import Kind

QUEUES = ("documents", "events")

KINDS = {
    kind.name: kind
    for kind in (
        # A document that can't be read is final: the policy team uploads a new version.
        Kind("ingest_version", queue="documents", handler=ingest_version),
        # A published version under another embedding model; its old vectors answer meanwhile.
        Kind("reembed_version", queue="documents", handler=reembed_version),
        # An event that can't be applied is quarantined: a person repairs the payload and retries it.
        Kind("apply_event", queue="events", handler=apply_event, rejected_state="dead_letter", together=apply_together),
    )
}


def kinds_of(queue: str) -> list[str]:
    """The kinds that this program knows; a job of another kind is left alone."""
    return [kind.name for kind in KINDS.values() if kind.queue == queue]
