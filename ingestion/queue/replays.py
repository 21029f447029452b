"""Old work beside new: how much of a queue's bound jobs fill that had ended before, and where such a job stands.

Which jobs those are, and how many come at a time, is decided in `ingestion.replaying`.
"""

from uuid import UUID

from django.db import connection

from ingestion.queue.controlling import Bound
from ingestion.queue.sql import statement


def lock(queue: str) -> None:
    """Nobody else replays into the queue until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(statement("lock_replays"), {"queue": queue})


def replayed(queue: str) -> Bound:
    """What unfinished jobs that had ended before take of the bound: jobs, work units, bytes."""
    with connection.cursor() as cursor:
        cursor.execute(statement("replayed"), {"queue": queue})
        return Bound(*cursor.fetchone())


def stand_behind(job_id: UUID) -> bool:
    """The dead letter or failed job stands behind what its caller has waiting. False: it is neither.

    Call it inside the transaction that revives the job, before it takes its place: the depth's row is locked last.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement("stand_behind"), {"id": job_id})
        return cursor.fetchone() is not None
