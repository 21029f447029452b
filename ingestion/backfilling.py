"""A new embedding model without downtime: what is published is embedded anew by jobs, then search is switched over.

Until the switch the old vectors answer, and they stay: switching back is the same step. What is published meanwhile
has vectors of the space that is searched at that moment; the backfill finds it too, and the switch demands it.
"""

from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F, QuerySet

from ingestion import standing
from ingestion.models import Caller, Chunk, Corpus, Document, EmbeddingSpace, Job, Reembedding, embedding_space
from ingestion.models.jobs import LIVE_STATES
from ingestion.pipeline.vector_index import ensure_index
from ingestion.queue import controlling
from ingestion.queue.controlling import NewJob, QueueFull

KIND, QUEUE = "reembed_version", "documents"
# Whose jobs they are: a caller of its own, so that they take turns with everybody's uploads. It has no token.
OWNER = "larkfield-backfill"
# At most this part of the bound, and only while the queue is emptier than that: uploads find places.
SHARE, FILLED = 0.1, 0.5

# Published versions that can't be found whole in the space, those with the newest uploads last.
MISSING = """
SELECT version.id FROM ingestion_document AS document
JOIN ingestion_documentversion AS version ON version.id = document.published_id
WHERE document.deleted_at IS NULL AND EXISTS (
    SELECT FROM ingestion_chunk AS chunk
    WHERE chunk.version_id = version.id AND NOT EXISTS (
        SELECT FROM ingestion_searchablevector AS held
        WHERE held.chunk_id = chunk.id AND held.embedding_version = %(space)s
    )
)
ORDER BY version.id
"""
SPACES = "SELECT DISTINCT embedding_version FROM ingestion_searchablevector ORDER BY 1"


class Incomplete(Exception):
    """Search can't be switched to this space yet; the text says how much is missing and what to do."""


@dataclass(frozen=True)
class Progress:
    """How far a space is: published versions, those that can be found in it, jobs under way, jobs that failed."""

    published: int
    complete: int
    under_way: int
    stuck: int

    @property
    def is_complete(self) -> bool:
        return self.complete == self.published


def progress(space: EmbeddingSpace) -> Progress:
    """Where the space stands now."""
    missing = _missing(space)
    jobs = _jobs(space)
    published = Document.objects.filter(deleted_at=None, published__isnull=False).count()
    return Progress(
        published=published,
        complete=published - len(missing),
        under_way=jobs.filter(state__in=LIVE_STATES).count(),
        stuck=jobs.filter(state__in=("dead_letter", "failed"), reembedding__version__in=missing).count(),
    )


def spaces() -> list[str]:
    """The embedding versions that have searchable vectors, and the one that is searched."""
    with connection.cursor() as cursor:
        cursor.execute(SPACES)
        found = {row[0] for row in cursor.fetchall()}
    return sorted(found | {embedding_space().name})


def feed(space: EmbeddingSpace) -> int:
    """As many jobs are added as the backfill's share of the bound has places for; how many that was."""
    added = 0
    for version_id in _missing(space):
        if not _has_room(_live_jobs()):
            break
        try:
            added += _add(version_id, space)
        except QueueFull:
            break
    return added


def switch(space: EmbeddingSpace) -> str:
    """Search and new uploads use the space from now on, in every process; the name of the one before.

    Raises Incomplete while a published version can't be found in it. Call it outside a transaction.
    """
    ensure_index(space, concurrently=True)
    with transaction.atomic():
        # Every publish takes this row last: what was published before is seen here, what comes after sees the switch.
        corpus = Corpus.objects.select_for_update().get(id=1)
        before = embedding_space().name
        if missing := len(_missing(space)):
            raise Incomplete(
                f"{missing} published versions have no vectors under {space.name} yet. Run manage.py backfill "
                f"--model {space.model} --dimension {space.dimension} and switch again when it is complete."
            )
        corpus.embedding_version, corpus.generation = space.name, F("generation") + 1
        corpus.save(update_fields=["embedding_version", "generation"])
    return before


def _missing(space: EmbeddingSpace) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(MISSING, {"space": space.name})
        return [row[0] for row in cursor.fetchall()]


def _jobs(space: EmbeddingSpace) -> QuerySet[Job]:
    return Job.objects.filter(kind=KIND, reembedding__embedding_version=space.name)


def _live_jobs() -> int:
    return Job.objects.filter(queue=QUEUE, kind=KIND, state__in=LIVE_STATES).count()


def _has_room(live: int) -> bool:
    """Whether one job more keeps within the share; an empty queue always has room for one."""
    depth, bound = standing.depth_of(QUEUE), controlling.bound_of(QUEUE)
    is_calm = depth.jobs < FILLED * bound.jobs and depth.units < FILLED * bound.units
    return not depth.is_draining and (depth.jobs == 0 or (is_calm and live < max(1, int(SHARE * bound.jobs))))


@transaction.atomic
def _add(version_id: int, space: EmbeddingSpace) -> bool:
    """The version has a job for this space; False: it has one already, or is no longer published.

    Lock order: document, depth. The document's lock lets two backfills at once add one job between them.
    """
    document = Document.objects.select_for_update(no_key=True).filter(published_id=version_id).first()
    if document is None or document.deleted_at is not None:
        return False
    known = _jobs(space).filter(reembedding__version_id=version_id)
    if known.exclude(state__in=("succeeded", "cancelled", "expired")).exists():
        return False
    units = max(1, _tokens(version_id, space))
    job_id = controlling.insert(
        NewJob(queue=QUEUE, kind=KIND, caller_id=_owner().pk, units=units, bytes=0, lane="embeddings")
    )
    Reembedding.objects.create(job_id=job_id, version_id=version_id, embedding_version=space.name)
    controlling.take_place(QUEUE, units, 0)
    return True


def _tokens(version_id: int, space: EmbeddingSpace) -> int:
    """The provider tokens that the version's missing vectors will take."""
    chunks = Chunk.objects.filter(version_id=version_id).exclude(vectors__embedding_version=space.name)
    return sum(chunks.values_list("tokens", flat=True))


def _owner() -> Caller:
    return Caller.objects.get_or_create(name=OWNER, defaults={"rights": [], "is_active": False})[0]
