"""The vectors of a version's chunks: taken over where the same input was embedded before, else in batches."""

from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction

from ingestion import connections
from ingestion.models import Chunk, ChunkVector, DocumentVersion, EmbeddingSpace, embedding_space
from ingestion.pipeline.chunking import squeeze
from ingestion.pipeline.saving import save
from ingestion.provider import client, pacing
from ingestion.provider.client import CallContext, EmbeddingReply
from ingestion.provider.errors import ProviderFailed, ProviderRefused
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import ClaimLost

SMALLEST_BATCH_TOKENS = 2_000
SMALLEST_BATCH_PART = 0.05

# Vectors of the same input under the same embedding version, from whichever chunk has one. Never two for a chunk:
# the unique rule (chunk, embedding version) decides.
TAKE_OVER = """
INSERT INTO ingestion_chunkvector (chunk_id, embedding_version, input_hash, vector, is_reused)
SELECT chunk.id, %(space)s, chunk.input_hash, known.vector, true
FROM ingestion_chunk AS chunk
CROSS JOIN LATERAL (
    SELECT vector FROM ingestion_chunkvector AS held
    WHERE held.input_hash = chunk.input_hash AND held.embedding_version = %(space)s
    LIMIT 1
) AS known
WHERE chunk.version_id = %(version)s
ON CONFLICT (chunk_id, embedding_version) DO NOTHING
"""


@dataclass(frozen=True)
class Work:
    """Whose claim it is, and which version gets its vectors in which space."""

    claim: Claim
    version: DocumentVersion
    space: EmbeddingSpace


@dataclass(frozen=True)
class Input:
    """One distinct text to embed and the chunks that have it."""

    text: str
    tokens: int
    input_hash: str
    chunk_ids: tuple[int, ...]


def ensure_vectors(claim: Claim, version: DocumentVersion, space: EmbeddingSpace | None = None) -> None:
    """Each chunk of the version has its one vector in `space`, by default the one that is searched now.

    What a batch gave is saved before the next batch is asked for.
    """
    with connections.brief(), transaction.atomic():
        work = Work(claim, version, space or embedding_space())
        _note_progress(work)
        if settings.VECTOR_REUSE == "on":
            with connection.cursor() as cursor:
                cursor.execute(TAKE_OVER, {"space": work.space.name, "version": version.id})
            _note_progress(work)
    missing = _missing(work)
    while missing:
        if claim.lost.is_set():
            raise ClaimLost(f"{claim.kind} {claim.id} was lost between two batches")
        batch = first_batch(missing, settings.EMBEDDING_BATCH_INPUTS, _room())
        _embed(work, batch)
        missing = missing[len(batch) :]


def _room() -> float:
    """Tokens for the next batch: what is free now, so that a long document is not overtaken by short ones for ever
    while it waits for a whole batch's tokens; and never so few that a call is not worth it."""
    with connections.brief():
        room = pacing.gate().embeddings.room
        return min(pacing.largest_batch_tokens(), max(room, smallest_batch_tokens()))


def smallest_batch_tokens() -> float:
    """A batch below this (if more is left) is not worth a call, a claim and a save."""
    return min(SMALLEST_BATCH_TOKENS, SMALLEST_BATCH_PART * settings.EMBEDDING_TOKENS_PER_MINUTE)


def _missing(work: Work) -> list[Input]:
    """The distinct inputs without a vector, in the order of their first chunk."""
    with connections.brief():
        rows = list(
            Chunk.objects.filter(version=work.version)
            .exclude(vectors__embedding_version=work.space.name)
            .order_by("position")
            .values_list("id", "input_hash", "embedding_prefix", "text", "tokens")
        )
    found: dict[str, Input] = {}
    for identity, input_hash, prefix, text, tokens in rows:
        earlier = found[input_hash].chunk_ids if input_hash in found else ()
        found[input_hash] = Input(prefix + squeeze(text), tokens, input_hash, (*earlier, identity))
    return list(found.values())


def first_batch(inputs: list[Input], most_inputs: int, most_tokens: float) -> list[Input]:
    """The first inputs, at most `most_inputs` and `most_tokens`, at least one."""
    batch: list[Input] = []
    tokens = 0
    for one in inputs[:most_inputs]:
        tokens += one.tokens
        if batch and tokens > most_tokens:
            break
        batch.append(one)
    return batch


def _embed(work: Work, batch: list[Input]) -> None:
    """Saves the batch's vectors. One refused input is found by halving; its neighbours keep their vectors."""
    claim = work.claim
    claim.served.set()
    try:
        reply = client.embed(
            [one.text for one in batch],
            context=CallContext(purpose="bulk", step="embed", job_id=claim.id, generation=claim.generation),
            token_count=sum(one.tokens for one in batch),
            space=work.space,
        )
    except ProviderRefused:
        if len(batch) == 1:
            raise
        middle = len(batch) // 2
        refused = None
        for half in (batch[:middle], batch[middle:]):
            try:
                _embed(work, half)
            except ProviderRefused as error:
                refused = error
        if refused:
            raise refused from None
        return
    _save(work, batch, reply)
    if reply.bad:
        why = next(iter(reply.bad.values()))
        raise ProviderFailed("bad_vector", f"{len(reply.bad)} of {len(batch)} vectors are unusable; the first: {why}")


def _save(work: Work, batch: list[Input], reply: EmbeddingReply) -> None:
    rows = [
        ChunkVector(
            chunk_id=chunk_id, embedding_version=work.space.name, input_hash=one.input_hash, vector=vector,
            is_reused=place > 0,
        )
        for one, vector in zip(batch, reply.vectors, strict=True)
        if vector is not None
        for place, chunk_id in enumerate(one.chunk_ids)
    ]  # fmt: skip

    def write() -> None:
        settling.fence(work.claim, done=0, total=work.version.chunk_count or 0)
        ChunkVector.objects.bulk_create(rows, ignore_conflicts=True)
        _note_progress(work)

    save(work.claim, write)


def _note_progress(work: Work) -> None:
    """The job's progress is the number of the version's chunks that have a vector; the fence comes with it."""
    done = ChunkVector.objects.filter(chunk__version=work.version, embedding_version=work.space.name).count()
    settling.fence(work.claim, done=done, total=work.version.chunk_count or 0, lane="embeddings")
