"""Text to chunks. Import from here; how blocks, pieces and boundaries are found is private to the package."""

from ingestion.pipeline.chunking.chunks import chunk_text
from ingestion.pipeline.chunking.spans import ChunkSpan, embedded_text, squeeze

__all__ = ["ChunkSpan", "chunk_text", "embedded_text", "squeeze"]
