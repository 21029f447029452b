"""Vectors and the spaces that they live in: what a chunk was embedded to, and what of it may be searched."""

from dataclasses import dataclass

from django.conf import settings
from django.db import models
from pgvector.django import HalfVectorField, VectorField

from ingestion.models.documents import Chunk, Corpus, DocumentVersion


@dataclass(frozen=True)
class EmbeddingSpace:
    """A model and a dimension: only vectors of one space can be compared. `name` is the embedding version of rows."""

    model: str
    dimension: int

    @property
    def name(self) -> str:
        return f"{self.model}/{self.dimension}"

    @classmethod
    def named(cls, name: str) -> "EmbeddingSpace":
        """The space that a row or a person names, as MODEL/DIMENSION. ValueError: it is no such name."""
        model, slash, dimension = name.rpartition("/")
        if not (slash and model and dimension.isascii() and dimension.isdecimal() and int(dimension) > 0):
            raise ValueError(f"{name!r} is no embedding version: it is written MODEL/DIMENSION, as in embed-small/384.")
        return cls(model, int(dimension))


def configured_space() -> EmbeddingSpace:
    """What the environment names: it holds until somebody switches."""
    return EmbeddingSpace(settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSION)


def embedding_space() -> EmbeddingSpace:
    """The space that is searched and embedded in now, in every process: as the database says, else as configured."""
    chosen = Corpus.objects.values_list("embedding_version", flat=True).filter(id=1).first()
    return EmbeddingSpace.named(chosen) if chosen else configured_space()


def embedding_version() -> str:
    """The name of the space that is used now."""
    return embedding_space().name


class ChunkVector(models.Model):
    """The vector of a chunk under one embedding version (model and dimension)."""

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    embedding_version = models.CharField(max_length=100)
    input_hash = models.CharField(max_length=64)
    vector = VectorField()
    is_reused = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # reuse: a vector of the same input under the same embedding version.
            models.Index("input_hash", "embedding_version", name="vector_reuse")
        ]
        constraints = [models.UniqueConstraint("chunk", "embedding_version", name="vector_once_a_chunk_and_version")]

    def __str__(self) -> str:
        return f"{self.chunk_id} under {self.embedding_version}"


class SearchableVector(models.Model):
    """A published chunk's vector where search looks for it: nothing of another version ever stands here.

    Of length 1 and in half precision: the approximate index over it proposes, the whole vector is measured.
    """

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, db_index=False, related_name="searchable")
    document = models.ForeignKey("ingestion.Document", on_delete=models.CASCADE, db_index=False, related_name="+")
    embedding_version = models.CharField(max_length=100)
    vector = HalfVectorField()

    class Meta:
        indexes = [
            # search within one document: exact, without the approximate index.
            models.Index("document", "embedding_version", name="searchable_document")
        ]
        constraints = [
            models.UniqueConstraint("chunk", "embedding_version", name="searchable_once_a_chunk_and_version")
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} under {self.embedding_version}"


class Reembedding(models.Model):
    """What a `reembed_version` job works on: a version that gets its vectors under another embedding version."""

    job = models.OneToOneField("ingestion.Job", on_delete=models.PROTECT, related_name="reembedding")
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="reembeddings")
    embedding_version = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.version_id} under {self.embedding_version}"
