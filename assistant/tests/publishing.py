"""Puts documents into the tables as the pipeline would leave them: published, waiting or deleted.

Vectors come from the simulated provider, so that search finds by meaning as it does in the product.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

import openai
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from ingestion.models import (
    Caller,
    Chunk,
    ChunkVector,
    Corpus,
    Document,
    DocumentVersion,
    Job,
    embedding_version,
)
from ingestion.models.callers import hash_token, new_token
from ingestion.pipeline import languages, searchable


def caller(name: str = "mei", *rights: str) -> tuple[Caller, str]:
    """A caller with these rights (without any: `ask`) and its token."""
    token = new_token()
    made = Caller.objects.create(name=name, rights=list(rights or ("ask",)), token_hash=hash_token(token))
    return made, token


def publish(slug: str, text: str, *, cuts: Sequence[str] | None = None) -> DocumentVersion:
    """The next version of `slug` is the published one; `cuts` are its chunks (default: one for each heading)."""
    version = wait(slug, text, state="succeeded", cuts=cuts)
    document = version.document
    previous = document.published
    if previous is not None:
        searchable.leave(document.pk)
        DocumentVersion.objects.filter(pk=previous.pk).update(superseded_at=timezone.now())
    searchable.enter(version.pk)
    DocumentVersion.objects.filter(pk=version.pk).update(published_at=timezone.now())
    Document.objects.filter(pk=document.pk).update(published=version)
    _raise_generation()
    return version


def wait(slug: str, text: str, *, state: str = "queued", cuts: Sequence[str] | None = None) -> DocumentVersion:
    """The next version of `slug` has all its chunks and vectors and its job is in `state`; nothing is published."""
    document, _ = Document.objects.get_or_create(slug=slug, defaults={"title": slug.title()})
    number = document.latest_number + 1
    Document.objects.filter(pk=document.pk).update(latest_number=number)
    version = DocumentVersion.objects.create(
        document_id=document.pk,
        number=number,
        job=_job(state),
        title=slug.title(),
        sha256="0" * 64,
        bytes=len(text.encode()),
        media_type="text/markdown",
        storage_key=f"{slug}/{number}",
        text=text,
    )
    _add_chunks(version, list(cuts) if cuts is not None else _cut(text))
    return DocumentVersion.objects.select_related("document__published").get(pk=version.pk)


def delete(slug: str) -> None:
    """The document is gone for readers."""
    searchable.leave(Document.objects.get(slug=slug).pk)
    Document.objects.filter(slug=slug).update(deleted_at=timezone.now(), published=None)
    _raise_generation()


def _raise_generation() -> None:
    Corpus.objects.filter(id=1).update(generation=F("generation") + 1)


def _job(state: str) -> Job:
    owner, _ = Caller.objects.get_or_create(name="policy team", defaults={"rights": ["upload"]})
    now = timezone.now()
    return Job.objects.create(
        queue="documents",
        kind="ingest_version",
        state=state,
        caller=owner,
        max_attempts=5,
        units=1,
        bytes=1,
        lease_until=now if state == "running" else None,
        finished_at=None if state in ("queued", "running") else now,
    )


def _cut(text: str) -> list[str]:
    """At each heading, without gap or overlap."""
    return [part for part in re.split(r"(?m)^(?=#{1,6} )", text) if part.strip()]


def _add_chunks(version: DocumentVersion, cuts: list[str]) -> None:
    assert "".join(cuts) == version.text
    start, chunks, language = 0, [], languages.detect(version.text or "")
    for position, cut in enumerate(cuts):
        heading = re.match(r"#{1,6} (.*)", cut)
        path = [heading[1]] if heading else []
        prefix = " > ".join([version.title, *path])
        chunks.append(
            Chunk(
                job=version.job,
                version=version,
                position=position,
                start=start,
                end=start + len(cut),
                heading_path=path,
                text=cut,
                embedding_prefix=prefix,
                input_hash=sha256(f"{prefix}\n{cut}".encode()).hexdigest(),
                tokens=len(cut) // 4 + 1,
                language=language,
            )
        )
        start += len(cut)
    Chunk.objects.bulk_create(chunks)
    vectors = embeddings(f"{chunk.embedding_prefix}\n{chunk.text}" for chunk in chunks)
    ChunkVector.objects.bulk_create(
        ChunkVector(chunk=chunk, embedding_version=embedding_version(), input_hash=chunk.input_hash, vector=vector)
        for chunk, vector in zip(chunks, vectors, strict=True)
    )


def embeddings(texts: Iterable[str]) -> list[list[float]]:
    """The simulated provider's vectors, asked for by the official client, outside the product's ledger."""
    with openai.OpenAI(base_url=settings.PROVIDER_BASE_URL, api_key="tests", max_retries=0) as client:
        reply = client.embeddings.create(
            model=settings.EMBEDDING_MODEL, input=list(texts), dimensions=settings.EMBEDDING_DIMENSION
        )
    return [row.embedding for row in sorted(reply.data, key=lambda row: row.index)]
