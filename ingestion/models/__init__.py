"""The tables, by subject; each rule of the business that a row can break is a constraint here."""

from ingestion.models.callers import Caller
from ingestion.models.documents import (
    Chunk,
    ChunkVector,
    Corpus,
    Document,
    DocumentVersion,
    Summary,
    corpus_generation,
    embedding_version,
)
from ingestion.models.events import Checkpoint, EventEffect, EventRecord, IntakeCount, ProducerOwner, UsageDay
from ingestion.models.jobs import CompletionPace, IdempotencyKey, Job, JobOutcome, QueueState, Worker
from ingestion.models.provider import ProviderCall, ProviderLane, ProviderState

__all__ = [
    "Caller",
    "Checkpoint",
    "Chunk",
    "ChunkVector",
    "CompletionPace",
    "Corpus",
    "Document",
    "DocumentVersion",
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
    "Summary",
    "UsageDay",
    "Worker",
    "corpus_generation",
    "embedding_version",
]
