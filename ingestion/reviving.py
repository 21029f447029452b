"""Giving finished work another chance: one dead letter or failed job, or all dead letters of a queue."""

from collections.abc import Iterator
from uuid import UUID

from django.db import transaction

from ingestion.models import DocumentVersion, Job
from ingestion.queue import controlling, wakeup


class NotRevivable(Exception):
    """The job is no dead letter or failed job, or nothing could come of it; the text says which."""


def revive(job_id: UUID) -> None:
    """The job is queued with a fresh budget. Raises NotRevivable, or QueueFull where the bound leaves no place."""
    if DocumentVersion.objects.filter(job_id=job_id, deleted_at__isnull=False).exists():
        raise NotRevivable(f"The document of job {job_id} was deleted.")
    with transaction.atomic():
        if not controlling.revive(job_id):
            raise NotRevivable(_state(job_id))
        queue = Job.objects.values_list("queue", flat=True).get(id=job_id)
        wakeup.notify(queue, 0)


def _state(job_id: UUID) -> str:
    state = Job.objects.filter(id=job_id).values_list("state", flat=True).first()
    if state is None:
        return f"There is no job {job_id}."
    return f"Only a dead letter or failed job can be retried; job {job_id} is {state}."


def dead_letters(queue: str) -> list[UUID]:
    """The queue's dead letters, the oldest first."""
    found = Job.objects.filter(queue=queue, state="dead_letter").order_by("finished_at", "id")
    return list(found.values_list("id", flat=True))


def revive_each(jobs: list[UUID]) -> Iterator[NotRevivable | None]:
    """Revives one after the other; yields None for each that is queued, else why not. Ends with QueueFull."""
    for job_id in jobs:
        try:
            revive(job_id)
        except NotRevivable as error:
            yield error
        else:
            yield None
