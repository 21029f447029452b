"""A worker that is killed while it settles many events at once leaves nothing of them, and each is applied once."""

import pytest
from django.db import connection, transaction
from django.db.models import Sum

from ingestion.models import EventEffect, Job, JobOutcome, UsageDay
from ingestion.queue.sql import statement
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.events import BATCH, admit_ratings
from ingestion.tests.processes.watching import eventually

pytestmark = pytest.mark.django_db(transaction=True)

# The settlement of a part has written its effects, its jobs and their history, and waits for the depth's row.
WAITS_FOR_DEPTH = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE %s
"""


def waits() -> int:
    with connection.cursor() as cursor:
        # Within a transaction the sessions are seen as at its first look, unless that is forgotten.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(WAITS_FOR_DEPTH, [statement("finish_together")[:60] + "%"])
        return int(cursor.fetchone()[0])


def test_a_worker_killed_in_the_middle_of_a_settlement_makes_no_second_effect(crew: Crew) -> None:
    admit_ratings(BATCH)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM ingestion_queuestate WHERE queue = 'events' FOR UPDATE")
        first = crew.worker("first", "--queues", "events")
        eventually("a settlement of many waits for the depth", lambda: waits() > 0)
        first.kill()
    eventually("its statements are over", lambda: waits() == 0)
    assert not EventEffect.objects.exists(), "nothing of an unfinished part is there"
    assert UsageDay.objects.count() == 0

    crew.worker("second", "--queues", "events")
    eventually("all are applied", lambda: not Job.objects.exclude(state="succeeded").filter(queue="events").exists())
    assert UsageDay.objects.aggregate(total=Sum("ratings"))["total"] == BATCH
    assert EventEffect.objects.count() == BATCH
    assert JobOutcome.objects.filter(outcome="succeeded").count() == BATCH
