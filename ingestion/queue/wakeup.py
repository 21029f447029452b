"""Telling idle workers that there is work, without a notification for every job of a burst."""

from django.db import connection

CHANNEL = "larkfield_jobs"
# Deeper queues keep every worker busy: it claims again whenever a slot is free and needs no call.
DEPTH_MAX = 64


def notify(queue: str, depth: int) -> None:
    """Workers that listen wake when this transaction commits, if the queue is so short that they may sleep."""
    if depth <= DEPTH_MAX:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, queue])
