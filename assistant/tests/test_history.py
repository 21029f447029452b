"""The last hour by minutes: counted from the rows, the same after a restart, and no dearer with a long past."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from assistant import history
from ingestion import connections
from ingestion.models import Caller, ProviderCall
from ingestion.tests.making import make_caller, make_job
from ingestion.tests.test_queue_plans import most_rows_read

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_history")]

PAST = 20_000
FILL = """
INSERT INTO ingestion_job (queue, kind, state, caller_id, max_attempts, units, bytes, queued_at, finished_at)
SELECT 'documents', 'ingest_version', %(state)s, %(caller)s, 5, 10, 100, %(queued_at)s, %(finished_at)s
FROM generate_series(1, %(count)s)
"""


@pytest.fixture
def caller() -> Caller:
    return make_caller()


@pytest.fixture
def now(caller: Caller) -> datetime:
    return connections.now()


def ended(
    caller: Caller, now: datetime, *, accepted: float, after: float, count: int = 1, state: str = "succeeded"
) -> None:
    """Jobs that were accepted `accepted` minutes ago and ended `after` minutes later."""
    queued_at = now - timedelta(minutes=accepted)
    values = {"queued_at": queued_at, "finished_at": queued_at + timedelta(minutes=after)}
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"state": state, "caller": caller.pk, "count": count, **values})


def called(now: datetime, *, minutes_ago: float, **values: Any) -> None:
    row = {"lane": "chat", "model": "m", "purpose": "bulk", "step": "s", "outcome": "ok", "reserved": 1, **values}
    at = now - timedelta(minutes=minutes_ago)
    ProviderCall.objects.create(client_request_id=f"c-{ProviderCall.objects.count()}", started_at=at, **row)


def documents() -> dict[str, Any]:
    found: dict[str, Any] = history.last_hour()["queues"]["documents"]
    return found


def test_the_depth_of_a_minute_is_what_was_accepted_until_then_and_had_not_ended(caller: Caller, now: datetime) -> None:
    ended(caller, now, accepted=30, after=10, count=3)
    ended(caller, now, accepted=90, after=70, count=2)
    make_job(caller)
    depth = documents()["depth"]
    assert (depth[-1], depth[-10], depth[-25], depth[-35]) == (1, 0, 5, 2)


def test_each_minute_tells_what_was_accepted_finished_and_given_up(caller: Caller, now: datetime) -> None:
    ended(caller, now, accepted=20, after=5, count=4)
    ended(caller, now, accepted=20, after=5, count=1, state="dead_letter")
    ended(caller, now, accepted=20, after=5, count=1, state="cancelled")
    found = documents()
    assert [sum(found[name]) for name in ("accepted", "finished", "given_up")] == [6, 4, 1]
    assert found["accepted"][-21] == 6
    assert found["finished"][-16] == 4
    assert found["longest_seconds"][-16] == pytest.approx(300)
    assert found["median_seconds"][-15] is None


def test_a_minute_that_is_over_is_not_counted_again_and_stays_the_same(caller: Caller, now: datetime) -> None:
    ended(caller, now, accepted=30, after=10, count=3)
    first = documents()
    ended(caller, now, accepted=25, after=5, count=50)
    assert documents()["finished"][:-4] == first["finished"][:-4]
    history.forget()
    assert sum(documents()["finished"]) == 53, "another process counts what is there"


def test_what_ends_in_the_last_minutes_is_seen_at_the_next_look(caller: Caller, now: datetime) -> None:
    documents()
    ended(caller, now, accepted=1.5, after=1, count=2)
    assert sum(documents()["finished"]) == 2


def test_the_hour_reads_no_more_when_the_past_is_long(caller: Caller, now: datetime) -> None:
    ended(caller, now, accepted=3 * 24 * 60, after=5, count=PAST)
    ended(caller, now, accepted=10, after=5, count=20)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE ingestion_job")
    statement = history._statement("job_minutes")
    since = now - timedelta(hours=1)
    assert most_rows_read(statement, {"queue": "documents", "since": since}) <= 100


def test_questions_and_bulk_are_told_apart_and_what_was_refused_used_nothing(now: datetime) -> None:
    called(now, minutes_ago=5)
    called(now, minutes_ago=5, outcome="rate_limited")
    called(now, minutes_ago=5, purpose="question")
    called(now, minutes_ago=0.5, lane="embeddings", reserved=700, outcome=None)
    called(now, minutes_ago=0.5, lane="embeddings", reserved=700, prompt_tokens=650)
    provider = history.last_hour()["provider"]
    chat = provider["chat"]
    assert (sum(chat["bulk"]), sum(chat["questions"]), sum(chat["limited"])) == (1, 1, 1)
    assert sum(provider["embeddings"]["bulk"]) == 1_350
    assert history.used_lately() == {("embeddings", "bulk"): 1_350}


def test_the_cost_of_today_begins_at_midnight(now: datetime) -> None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since_midnight = (now - midnight).total_seconds() / 60
    called(now, minutes_ago=0, cost_usd=Decimal("0.25"))
    called(now, minutes_ago=since_midnight + 1, cost_usd=Decimal("7"))
    assert history.cost_today() == Decimal("0.25")
