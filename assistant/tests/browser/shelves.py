"""Documents in the tables as the pages meet them: published, waiting, failed, with a use."""

from datetime import timedelta
from decimal import Decimal

from django.db.models import F
from django.utils import timezone

from ingestion.models import Caller, Chunk, Document, DocumentVersion, Job, ProviderCall, QueueState, Summary, UsageDay

COST = Decimal("0.000412")


def add_version(slug: str, state: str = "succeeded", *, title: str = "", summary: str = "") -> DocumentVersion:
    """The document's next version, with its job in `state`; one that succeeded is the published one."""
    document, _ = Document.objects.get_or_create(slug=slug, defaults={"title": title or slug.capitalize()})
    document.latest_number += 1
    now = timezone.now()
    version = DocumentVersion.objects.create(
        document=document, number=document.latest_number, job=_job(state), title=document.title, sha256="0" * 64,
        bytes=5_120, media_type="text/markdown", storage_key=f"{slug}/{document.latest_number}", chunk_count=12,
        published_at=now if state == "succeeded" else None,
    )  # fmt: skip
    if summary:
        Summary.objects.create(job=version.job, text=summary, maker="tests", text_sha256="0" * 64)
    if state == "succeeded":
        document.versions.filter(number__lt=version.number, published_at__isnull=False).update(superseded_at=now)
        document.published = version
    document.save()
    return version


def _job(state: str) -> Job:
    owner, _ = Caller.objects.get_or_create(name="policy team", defaults={"rights": ["upload"]})
    now = timezone.now()
    is_live = state in ("queued", "running")
    job = Job.objects.create(
        queue="documents", kind="ingest_version", state=state, caller=owner, max_attempts=5, units=1, bytes=1,
        lease_until=now if state == "running" else None, finished_at=None if is_live else now,
    )  # fmt: skip
    ProviderCall.objects.create(
        client_request_id=f"{job.id}-1", job=job, lane="chat", model="chat-small", purpose="bulk", step="summarize",
        cost_usd=COST,
    )  # fmt: skip
    return job


def add_chunk(version: DocumentVersion, position: int, start: int, text: str) -> None:
    """The version has this chunk, from code point `start` on."""
    Chunk.objects.create(
        job=version.job, version=version, position=position, start=start, end=start + len(text), text=text,
        input_hash="0" * 64, tokens=len(text) // 4 + 1,
    )  # fmt: skip


def take_place(job: Job, *, queued_at: str) -> None:
    """The job was accepted then, and counts in its queue's depth as admission would have it."""
    Job.objects.filter(pk=job.pk).update(queued_at=queued_at, ready_at=queued_at)
    depth = QueueState.objects.filter(queue=job.queue)
    depth.update(jobs=F("jobs") + 1, units=F("units") + job.units, bytes=F("bytes") + job.bytes)


def use(slug: str, days_ago: int, *, views: int, citations: int) -> None:
    """The document was viewed and cited that often on that day."""
    day = timezone.now().date() - timedelta(days=days_ago)
    document = Document.objects.get(slug=slug)
    UsageDay.objects.create(document=document, version_number=1, date=day, views=views, citations=citations)


def delete(slug: str) -> None:
    """The document is gone for readers."""
    Document.objects.filter(slug=slug).update(deleted_at=timezone.now(), published=None)
