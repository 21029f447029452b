"""The tables, by subject; each rule of the business that a row can break is a constraint here."""

from ingestion.models.callers import Caller
from ingestion.models.documents import (
    Chunk,
    Corpus,
    Document,
    DocumentVersion,
    Summary,
    corpus_generation,
)
from ingestion.models.events import Checkpoint, EventEffect, EventRecord, IntakeCount, ProducerOwner, UsageDay
from ingestion.models.jobs import CompletionPace, IdempotencyKey, Job, JobOutcome, QueueState, Worker
from ingestion.models.provider import ProviderCall, ProviderLane, ProviderState
from ingestion.models.tallies import Tally, TallyMark
from ingestion.models.vectors import (
    ChunkVector,
    EmbeddingSpace,
    Reembedding,
    SearchableVector,
    configured_space,
    embedding_space,
    embedding_version,
)

__all__ = [
    "Caller",
    "Checkpoint",
    "Chunk",
    "ChunkVector",
    "CompletionPace",
    "Corpus",
    "Document",
    "DocumentVersion",
    "EmbeddingSpace",
    "EventEffect",
    "EventRecord",
    "IdempotencyKey",
    "IntakeCount",
    "Job",
    "JobOutcome",
    "ProducerOwner",
    "ProviderCall",
    "ProviderLane",
    "ProviderState",
    "QueueState",
    "Reembedding",
    "SearchableVector",
    "Summary",
    "Tally",
    "TallyMark",
    "UsageDay",
    "Worker",
    "configured_space",
    "corpus_generation",
    "embedding_space",
    "embedding_version",
]
