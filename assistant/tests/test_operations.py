"""The numbers of the operations page: who may see them, and what they say of a queue that stands still."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistant import operations
from assistant.tests.browser import shelves
from ingestion import connections
from ingestion.models import Worker
from ingestion.tests.making import Uploader, change_job, make_job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_history")]

ROUTES = ("/operations/numbers", "/operations/history")


@pytest.fixture
def operator() -> Uploader:
    return Uploader("kwame", "operate", "upload")


def numbers(operator: Uploader) -> dict[str, Any]:
    return operator.get("/operations/numbers")


def waits(operator: Uploader, seconds: int, **values: Any) -> Any:
    """A job that was accepted so long ago."""
    made = make_job(operator.caller, **values)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_job SET queued_at = now() - make_interval(secs => %s) WHERE id = %s", [seconds, made]
        )
    return made


def worker(name: str = "field-1") -> None:
    Worker.objects.create(name=name, queues="documents,events", concurrency=4, seen_at=connections.now())


@pytest.mark.parametrize("path", ROUTES)
def test_only_who_may_operate_sees_the_numbers(path: str, db: None) -> None:
    assert Client().get(path).status_code == 401
    reader = Uploader("mei", "ask")
    assert reader.get(path, 403)["code"] == "forbidden"
    answer = Uploader("kwame", "operate").client.get(path)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")


def test_a_queue_without_a_worker_stands_still(operator: Uploader) -> None:
    waits(operator, 60)
    found = numbers(operator)["queues"]
    assert "No worker serves this queue" in found["documents"]["stalled"]
    assert found["events"]["stalled"] is None, "an empty queue needs nobody"


def test_a_queue_whose_worker_restarts_is_no_alarm_yet(operator: Uploader) -> None:
    waits(operator, 3)
    assert numbers(operator)["queues"]["documents"]["stalled"] is None


def test_a_queue_that_has_a_worker_and_moves_nothing_stands_still(operator: Uploader) -> None:
    worker()
    waits(operator, operations.STILL_SECONDS + 5)
    assert "Nothing has finished for 2 minutes" in numbers(operator)["queues"]["documents"]["stalled"]


def test_the_provider_is_named_when_it_is_what_holds_the_queue() -> None:
    queue = {"depth": {"jobs": 1}, "oldest_age_seconds": 500, "workers": 1, "pace_per_minute": 0}
    said = operations.stalled(queue, {"state": "paused", "reason": "chat: insufficient_quota"})
    assert said == "The provider can't be used: chat: insufficient_quota"
    assert operations.stalled({**queue, "pace_per_minute": 3}, {"state": "open", "reason": ""}) is None


def test_a_worker_is_shown_with_what_it_works_on(operator: Uploader) -> None:
    worker()
    Worker.objects.create(name="field-0", queues="events", concurrency=1, seen_at="2026-01-01T00:00:00Z")
    version = shelves.add_version("returns", "running")
    change_job(version.job_id, worker="field-1", progress_done=3, progress_total=12)
    live, silent = numbers(operator)["workers"]
    assert (live["name"], live["busy"], live["is_live"]) == ("field-1", 1, True)
    assert (live["jobs"][0]["subject"], live["jobs"][0]["done"]) == ("returns, version 1", 3)
    assert (silent["name"], silent["is_live"]) == ("field-0", False)


def test_a_thousand_dead_letters_are_counted_and_the_newest_ten_shown(operator: Uploader) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO ingestion_job (queue, kind, state, caller_id, max_attempts, units, bytes, finished_at,
                                       error_code, error_detail)
            SELECT 'documents', 'ingest_version', 'dead_letter', %s, 5, 1, 1, now() - make_interval(secs => number),
                   CASE WHEN number %% 10 = 0 THEN 'short_reply' ELSE 'provider_500' END, repeat('x', 5000)
            FROM generate_series(1, 1000) AS number
            """,
            [operator.caller.pk],
        )
    with CaptureQueriesContext(connection) as queries:
        found = numbers(operator)["queues"]["documents"]
    assert found["dead_letters"] == 1_000
    assert found["letters"]["errors"] == [{"code": "provider_500", "jobs": 900}, {"code": "short_reply", "jobs": 100}]
    newest = found["letters"]["newest"]
    assert len(newest) == operations.DEAD_LETTERS_SHOWN
    assert max(len(one["detail"]) for one in newest) == operations.DETAIL_SHOWN
    assert len(queries) < 45
