"""What the page of one job shows beside its row: what is saved of it, its provider calls, its history. Reads only."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models.functions import Length
from django.urls import reverse

from ingestion.admin.plans import RETRIED_STATES
from ingestion.models import (
    ChunkVector,
    DocumentVersion,
    EventEffect,
    EventRecord,
    Job,
    JobOutcome,
    ProviderCall,
    Summary,
)
from ingestion.provider import ledger

# Of a job that waits for days there may be thousands; the newest tell what goes on.
SHOWN_MAX = 100


@dataclass(frozen=True)
class Step:
    """An output of the job: a step is finished when it exists."""

    name: str
    is_saved: bool
    words: str


@dataclass
class Page:
    """Everything newest first; `calls` and `outcomes` are cut to SHOWN_MAX."""

    steps: list[Step]
    calls: list[ProviderCall]
    outcomes: list[JobOutcome]
    call_count: int
    cost_usd: Any
    links: list[tuple[str, str]]
    can_retry: bool
    can_cancel: bool
    lease_until: datetime | None
    worker: str
    most: int = field(default=SHOWN_MAX)


def page_of(job: Job) -> Page:
    """The page of this job."""
    version = DocumentVersion.objects.filter(job=job).select_related("document").defer("text").first()
    event = EventRecord.objects.filter(job=job).defer("payload").first()
    count, cost = ledger.cost_of_job(job.id)
    steps = _version_steps(job, version) if version else _event_steps(event) if event else []
    return Page(
        steps=steps,
        calls=list(ProviderCall.objects.filter(job=job).order_by("-id")[:SHOWN_MAX]),
        outcomes=list(JobOutcome.objects.filter(job=job).order_by("-generation")[:SHOWN_MAX]),
        call_count=count,
        cost_usd=cost,
        links=_links(version, event),
        can_retry=job.state in RETRIED_STATES,
        can_cancel=job.state == "queued",
        lease_until=job.lease_until,
        worker=job.worker,
    )


def _version_steps(job: Job, version: DocumentVersion) -> list[Step]:
    length = DocumentVersion.objects.filter(pk=version.pk).values_list(Length("text"), flat=True).get()
    summary = Summary.objects.filter(job=job).first()
    vectors = ChunkVector.objects.filter(chunk__job=job).count()
    chunks = version.chunk_count
    reused = " (taken over from the same text)" if summary and summary.is_reused else ""
    return [
        Step("text", length is not None, "not read yet" if length is None else f"{length} characters"),
        Step("chunks", chunks is not None, "not cut yet" if chunks is None else f"{chunks} chunks"),
        Step("summary", summary is not None, f"{summary.text}{reused}" if summary else "not made yet"),
        Step("vectors", bool(chunks) and vectors >= (chunks or 0), f"{vectors} of {chunks or '?'} chunks"),
        Step("published", version.published_at is not None, _published(version)),
    ]


def _published(version: DocumentVersion) -> str:
    if version.published_at is None:
        return "never"
    until = f" until {version.superseded_at:%Y-%m-%d %H:%M:%S}" if version.superseded_at else ""
    return f"{version.published_at:%Y-%m-%d %H:%M:%S}{until} UTC"


def _event_steps(event: EventRecord) -> list[Step]:
    effect = EventEffect.objects.filter(event=event).first()
    words = (
        f"under generation {effect.generation} at {effect.applied_at:%Y-%m-%d %H:%M:%S} UTC" if effect else "not yet"
    )
    return [Step("applied", effect is not None, words)]


def _links(version: DocumentVersion | None, event: EventRecord | None) -> list[tuple[str, str]]:
    if version is not None:
        address = reverse("admin:ingestion_document_change", args=[version.document_id])
        return [(f"Document {version.document.slug}, version {version.number}", address)]
    if event is not None:
        return [(f"Event {event}", reverse("admin:ingestion_eventrecord_change", args=[event.pk]))]
    return []
