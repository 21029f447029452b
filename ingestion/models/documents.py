"""Documents, their versions, and what the pipeline makes of a version."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now

from ingestion.models.languages import ENGLISH, LANGUAGES

# What a job's state means for a version that was never published.
UNPUBLISHED_STATES = {
    "queued": "pending",
    "running": "pending",
    "succeeded": "superseded",
    "failed": "failed",
    "dead_letter": "failed",
    "expired": "failed",
    "cancelled": "cancelled",
}


def corpus_generation() -> int:
    """A number that every publish and delete raises, committed together with it."""
    return Corpus.objects.values_list("generation", flat=True).get(id=1)


class Corpus(models.Model):
    """One row: what answers were cached under ends when its generation grows."""

    id = models.IntegerField(primary_key=True, default=1)
    generation = models.BigIntegerField(default=0, db_default=0)
    # The embedding version that was switched to; empty: the one that the environment names.
    embedding_version = models.CharField(max_length=100, default="", db_default="", blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="corpus_is_one_row")]
        verbose_name_plural = "corpus"

    def __str__(self) -> str:
        return str(self.generation)


class Document(models.Model):
    """A policy under one slug. A deleted one keeps its row, so that version numbers never restart."""

    slug = models.CharField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    latest_number = models.IntegerField(default=0, db_default=0)
    published = models.OneToOneField(
        "ingestion.DocumentVersion", null=True, on_delete=models.PROTECT, related_name="published_of"
    )
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.slug


class DocumentVersion(models.Model):
    """One uploaded file. Whether it is pending, failed or cancelled is what its job says."""

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="versions")
    number = models.IntegerField()
    job = models.OneToOneField("ingestion.Job", on_delete=models.PROTECT, related_name="version")
    title = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    media_type = models.CharField(max_length=100)
    charset = models.CharField(max_length=40, null=True)
    # A label only; the file's place is `storage_key`, which is generated.
    file_name = models.CharField(max_length=255, default="", db_default="", blank=True)
    storage_key = models.CharField(max_length=255, unique=True)
    # The normalised text; null until the job has read the file.
    text = models.TextField(null=True)
    text_sha256 = models.CharField(max_length=64, null=True)
    # How many chunks the text has; null until it was chunked.
    chunk_count = models.IntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    published_at = models.DateTimeField(null=True)
    superseded_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # reuse of a summary: any version with the same text.
            models.Index("text_sha256", name="version_text"),
            # news: the newest published versions.
            models.Index(F("published_at").desc(), condition=Q(published_at__isnull=False), name="version_news"),
        ]
        constraints = [
            models.UniqueConstraint("document", "number", name="version_number_once_a_document"),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} version {self.number}"

    @property
    def state(self) -> str:
        """pending, published, superseded, failed or cancelled."""
        if self.superseded_at:
            return "superseded"
        return "published" if self.published_at else UNPUBLISHED_STATES[self.job.state]


class Summary(models.Model):
    """The summary of a version's text: one for each job."""

    job = models.OneToOneField("ingestion.Job", on_delete=models.CASCADE, related_name="summary")
    text = models.TextField()
    # Model and prompt that made it: a summary of the same text by the same maker is taken over.
    maker = models.CharField(max_length=100)
    text_sha256 = models.CharField(max_length=64)
    is_reused = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index("text_sha256", "maker", name="summary_reuse")]
        verbose_name_plural = "summaries"

    def __str__(self) -> str:
        return self.text[:60]


def _words() -> Case:
    """Title, headings and text by the rules of the chunk's language; its name is a constant, as an index needs it."""
    others = [When(language=name, then=_words_in(name)) for name in LANGUAGES if name != ENGLISH]
    return Case(*others, default=_words_in(ENGLISH))


def _words_in(language: str) -> SearchVector:
    return SearchVector("embedding_prefix", "text", config=language)


class Chunk(models.Model):
    """A slice of a version's text, `start` to `end` in code points."""

    job = models.ForeignKey("ingestion.Job", on_delete=models.CASCADE, related_name="chunks")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="chunks")
    position = models.IntegerField()
    start = models.IntegerField()
    end = models.IntegerField()
    heading_path = ArrayField(models.TextField(), default=list)
    text = models.TextField()
    # What stands before the text when it is embedded: heading path, a table's header.
    embedding_prefix = models.TextField(default="", db_default="", blank=True)
    # SHA-256 of prefix and text: names the vector that fits.
    input_hash = models.CharField(max_length=64)
    tokens = models.IntegerField()
    # True only while the version is the published one: every search filters on it.
    is_searchable = models.BooleanField(default=False, db_default=False)
    # The text search configuration of its version's language.
    language = models.CharField(max_length=16, default=ENGLISH, db_default=ENGLISH)
    words = models.GeneratedField(
        expression=_words(),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        indexes = [
            GinIndex("words", condition=Q(is_searchable=True), name="chunk_words"),
            # search: which languages there are.
            models.Index("language", condition=Q(is_searchable=True), name="chunk_language"),
        ]
        constraints = [
            models.UniqueConstraint("job", "position", name="chunk_position_once_a_job"),
            models.UniqueConstraint("version", "position", name="chunk_position_once_a_version"),
            models.CheckConstraint(condition=Q(start__gte=0, end__gt=F("start")), name="chunk_is_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.version_id}[{self.position}]"
