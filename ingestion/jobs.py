"""The table of job kinds: read it to know what runs."""

from ingestion.events.applying import apply_event
from ingestion.pipeline.steps import ingest_version
from ingestion.queue.kinds import Kind

QUEUES = ("documents", "events")

KINDS = {
    kind.name: kind
    for kind in (
        # A document that can't be read is final: the policy team uploads a new version.
        Kind("ingest_version", queue="documents", handler=ingest_version),
        # An event that can't be applied is quarantined: a person repairs the payload and retries it.
        Kind("apply_event", queue="events", handler=apply_event, rejected_state="dead_letter"),
    )
}


def kinds_of(queue: str) -> list[str]:
    """The kinds that this program knows; a job of another kind is left alone."""
    return [kind.name for kind in KINDS.values() if kind.queue == queue]
