"""How documents, versions and jobs look in an answer."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from ingestion import standing
from ingestion.models import Document, DocumentVersion, Job
from ingestion.provider import ledger


def moment(value: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return value.isoformat().replace("+00:00", "Z") if value else None


def money(value: Decimal) -> str:
    """Plain decimals, at least six places, as many as the ledger has."""
    digits = format(value.quantize(Decimal("1e-9")), "f")
    whole, _, places = digits.partition(".")
    return f"{whole}.{places.rstrip('0').ljust(6, '0')}"


def document_url(slug: str) -> str:
    return f"/v1/documents/{slug}"


def job_reference(job: Job) -> dict[str, Any]:
    return {"id": str(job.id), "state": job.state, "url": f"/v1/jobs/{job.id}"}


def summary_of(version: DocumentVersion) -> str | None:
    summary = getattr(version.job, "summary", None)
    return summary.text if summary else None


def version(found: DocumentVersion, slug: str) -> dict[str, Any]:
    """One version; expects its job and summary to be fetched with it."""
    _, cost = ledger.cost_of_job(found.job_id)
    return {
        "number": found.number,
        "state": found.state,
        "title": found.title,
        "sha256": found.sha256,
        "bytes": found.bytes,
        "media_type": found.media_type,
        "file_name": found.file_name or None,
        "summary": summary_of(found),
        "cost_usd": money(cost),
        "chunk_count": found.chunk_count,
        "created_at": moment(found.created_at),
        "published_at": moment(found.published_at),
        "superseded_at": moment(found.superseded_at),
        "job": job_reference(found.job),
        "url": f"{document_url(slug)}/versions/{found.number}",
    }


def document(found: Document, pending: DocumentVersion | None) -> dict[str, Any]:
    """A document with what is published and what waits to be."""
    return {
        "slug": found.slug,
        "title": found.title,
        "url": document_url(found.slug),
        "published": _published(found.published, found.slug) if found.published else None,
        "pending": _pending(pending, found.slug) if pending else None,
    }


def _published(found: DocumentVersion, slug: str) -> dict[str, Any]:
    return {
        "number": found.number,
        "published_at": moment(found.published_at),
        "summary": summary_of(found),
        "chunk_count": found.chunk_count,
        "url": f"{document_url(slug)}/versions/{found.number}",
    }


def _pending(found: DocumentVersion, slug: str) -> dict[str, Any]:
    return {
        "number": found.number,
        "job": job_reference(found.job),
        "estimate": standing.foresee_live(found.job).answer(),
        "url": f"{document_url(slug)}/versions/{found.number}",
    }


def subject(found: Job) -> dict[str, Any] | None:
    """What the job works on."""
    if hasattr(found, "version"):
        return {"document": found.version.document.slug, "version": found.version.number}
    if hasattr(found, "reembedding"):
        version = found.reembedding.version
        return {"document": version.document.slug, "version": version.number}
    if hasattr(found, "event"):
        return {"producer": found.event.producer, "event_id": found.event.event_id}
    return None


def job(found: Job) -> dict[str, Any]:
    """One job, whole."""
    calls, cost = ledger.cost_of_job(found.id)
    return {
        "id": str(found.id),
        "queue": found.queue,
        "kind": found.kind,
        "state": found.state,
        "attempt": found.attempt,
        "max_attempts": found.max_attempts,
        "generation": found.generation,
        "progress": {"done": found.progress_done, "total": found.progress_total, "unit": "chunks"},
        "waiting_for": standing.waits_for(found),
        "ready_at": moment(found.ready_at),
        "queued_at": moment(found.queued_at),
        "started_at": moment(found.started_at),
        "finished_at": moment(found.finished_at),
        "estimate": standing.foresee_live(found).answer(),
        "error": {"code": found.error_code, "detail": found.error_detail} if found.error_code else None,
        "subject": subject(found),
        "provider_calls": calls,
        "cost_usd": money(cost),
        "url": f"/v1/jobs/{found.id}",
    }
