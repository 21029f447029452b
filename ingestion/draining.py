"""Draining a queue: admission is paused until it is resumed; what was accepted is finished."""

from django.db import connection

from ingestion.models import QueueState


class UnknownQueue(Exception):
    """There is no queue of this name; the text names those that are."""


def check_queue(queue: str) -> str:
    """The name, if it is a queue's."""
    names = sorted(QueueState.objects.values_list("queue", flat=True))
    if queue not in names:
        raise UnknownQueue(f"Unknown queue {queue!r}: choose from {', '.join(names)}.")
    return queue


def queues() -> list[str]:
    """The names of all queues."""
    return sorted(QueueState.objects.values_list("queue", flat=True))


def pause_admission(queue: str) -> bool:
    """The queue accepts nothing new; False: it did not before. One statement, so that no admission slips past it."""
    return _set(queue, True)


def resume_admission(queue: str) -> bool:
    """The queue accepts again; False: it did before."""
    return _set(queue, False)


def _set(queue: str, is_draining: bool) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_queuestate SET is_draining = %(new)s WHERE queue = %(queue)s AND is_draining <> %(new)s",
            {"new": is_draining, "queue": queue},
        )
        return bool(cursor.rowcount)
