"""What has ended is counted once, whatever is pruned, revived or committed late; and a look costs what is new."""

import json
import threading
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from ingestion import reviving, tallies
from ingestion.models import Job, JobOutcome, ProviderCall, TallyMark
from ingestion.queue import settling, sweeping
from ingestion.tallies import counting
from ingestion.tallies.sql import statement
from ingestion.tests import making


@pytest.fixture
def settled(db: None) -> list[UUID]:
    """Three jobs: succeeded after 40 s of waiting and 20 of work, failed at once, a dead letter."""
    caller = making.make_caller()
    jobs = [
        making.make_job(caller, estimate_seconds=50, low_seconds=20, high_seconds=90, basis="measured")
        for _ in range(3)
    ]
    claims = {claim.id: claim for claim in making.claims()}
    settling.finish(claims[jobs[0]], "succeeded")
    settling.finish(claims[jobs[1]], "failed", code="refused")
    settling.finish(claims[jobs[2]], "dead_letter", code="refused")
    ended = Job.objects.get(id=jobs[0]).finished_at
    assert ended
    making.change_job(jobs[0], queued_at=ended - timedelta(seconds=60), started_at=ended - timedelta(seconds=20))
    return jobs


def settlements() -> dict[tuple[str, str], float]:
    tallies.count()
    return tallies.read_counters().get("settled", {})


def test_a_job_is_counted_once_with_its_wait_its_turnaround_and_its_estimate_s_error(settled: list[UUID]) -> None:
    assert tallies.count() >= 3
    assert tallies.count() == 0
    assert settlements() == {
        ("documents", "succeeded"): 1, ("documents", "failed"): 1, ("documents", "dead_letter"): 1,
    }  # fmt: skip
    found = {name: by_label["documents"] for name, by_label in tallies.read_histograms().items() if by_label}
    assert dict(found["wait"].buckets)["60"] - dict(found["wait"].buckets)["30"] == 1
    assert found["wait"].buckets[-1] == ("+Inf", 3)
    assert dict(found["turnaround"].buckets)["120"] == 3
    assert found["turnaround"].sum == pytest.approx(60, abs=1)
    # Promised 50 s: one ended after 60, one at once; a dead letter's time says nothing about the promise.
    assert found["estimate_error"].buckets[-1] == ("+Inf", 2)
    assert found["estimate_error"].sum == pytest.approx(10 + 50, abs=1)
    assert tallies.read_counters()["estimates_kept"] == {("documents", "kept"): 1}


def test_counters_don_t_fall_when_history_is_pruned(settled: list[UUID], settings: Settings) -> None:
    # Not looked at before: pruning itself counts first.
    settings.HISTORY_DAYS = 0
    ended = Job.objects.get(id=settled[0]).finished_at
    assert ended
    making.change_job(settled[0], generation=7, finished_at=ended - timedelta(seconds=1))
    call_command("prune", verbosity=0)
    assert not JobOutcome.objects.filter(job=settled[0]).exists()
    assert settlements()["documents", "succeeded"] == 1


def test_a_revived_job_is_settled_twice_and_timed_once(settled: list[UUID]) -> None:
    tallies.count()
    reviving.revive(settled[2])
    making.make_ready(settled[2])
    settling.finish(making.claim_one(), "succeeded")
    assert settlements()["documents", "succeeded"] == 2
    assert tallies.read_histograms()["turnaround"]["documents"].buckets[-1] == ("+Inf", 3)


def test_what_is_missed_for_long_is_counted_over_several_scrapes(
    settled: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "ROWS_A_STEP", 1)
    assert tallies.count(patience_seconds=-1) == 1
    tallies.count(patience_seconds=60)
    assert sum(settlements().values()) == 3


def test_lost_leases_and_free_waits_are_settlements_too(db: None) -> None:
    making.make_job(making.make_caller())
    making.run_out(making.claim_one())
    sweeping.rescue()
    making.make_ready()
    settling.give_back(making.claim_one())
    assert settlements() == {("documents", "lease_expired"): 1, ("documents", "give_back"): 1}


@pytest.mark.parametrize("rows_a_step", (1, 10_000))
def test_calls_are_counted_when_they_have_ended(db: None, monkeypatch: pytest.MonkeyPatch, rows_a_step: int) -> None:
    monkeypatch.setattr(counting, "ROWS_A_STEP", rows_a_step)
    for number, outcome in enumerate(("ok", "rate_limited", None)):
        ProviderCall.objects.create(
            client_request_id=f"c{number}", lane="chat", model="chat-small", purpose="bulk", step="summarize",
            outcome=outcome, prompt_tokens=10, completion_tokens=2, cost_usd="0.5",
        )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_providercall SET finished_at = now() - id * interval '1 ms', "
            "started_at = now() - id * interval '1 ms' - interval '700 ms' WHERE outcome IS NOT NULL"
        )
    tallies.count()
    tallies.count()
    found = tallies.read_counters()
    assert found["calls"] == {("chat", "ok"): 1, ("chat", "rate_limited"): 1}
    assert (found["tokens"]["chat", "charged"], found["cost_usd"]["chat", "charged"]) == (24, 1.0)
    buckets = dict(tallies.read_histograms()["call"]["chat"].buckets)
    assert (buckets["0.5"], buckets["1"]) == (0, 2)


@pytest.mark.django_db(transaction=True)
def test_what_an_open_transaction_settles_is_counted_after_its_commit_and_not_lost() -> None:
    caller = making.make_caller()
    first, second = making.make_job(caller), making.make_job(caller)
    claims = {claim.id: claim for claim in making.claims()}
    settled, go = threading.Event(), threading.Event()

    def settle_slowly() -> None:
        with transaction.atomic():
            settling.finish(claims[first], "succeeded")
            settled.set()
            go.wait(20)
        connection.close()

    slow = threading.Thread(target=settle_slowly)
    # The depth's row is held by the slow one: this settlement gets the later id and is committed first.
    slow.start()
    assert settled.wait(20)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome) VALUES (%s, 1, 1, 'wait')",
            [second],
        )
    before = settlements()
    assert tallies.count() == 0, "the mark does not pass the open transaction"
    go.set()
    slow.join()
    assert before == {}
    assert settlements() == {("documents", "succeeded"): 1, ("documents", "wait"): 1}


@pytest.mark.django_db(transaction=True)
def test_who_comes_second_does_not_wait_for_who_counts() -> None:
    tallies.count()
    with transaction.atomic():
        TallyMark.objects.select_for_update().get()
        thread_says: list[int] = []

        def count() -> None:
            thread_says.append(counting.count())
            connection.close()

        other = threading.Thread(target=count)
        other.start()
        other.join(10)
        assert thread_says == [0]


def rows_read(plan: dict[str, Any]) -> float:
    own: float = plan.get("Actual Rows", 0) * plan.get("Actual Loops", 1) if plan["Node Type"].endswith("Scan") else 0
    removed: float = plan.get("Rows Removed by Filter", 0) * plan.get("Actual Loops", 1)
    return own + removed + sum(rows_read(one) for one in plan.get("Plans", []))


def test_a_look_reads_what_is_new_and_not_what_is_there(db: None) -> None:
    caller = making.make_caller()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH made AS (
                INSERT INTO ingestion_job
                    (queue, kind, caller_id, max_attempts, units, bytes, state, finished_at, generation)
                SELECT 'documents', 'ingest_version', %s, 5, 1, 1, 'succeeded', now(), 1 FROM generate_series(1, 20000)
                RETURNING id
            )
            INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome)
            SELECT id, 1, 1, 'succeeded' FROM made
            """,
            [caller.pk],
        )
        cursor.execute("ANALYZE ingestion_job, ingestion_joboutcome")
        cursor.execute("SELECT max(id) FROM ingestion_joboutcome")
        last = cursor.fetchone()[0]
        values = {"after": last - 10, "upto": last, "bounds": [1.0, 2.0]}
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement("outcomes"), values)
        found = cursor.fetchone()[0]
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    assert rows_read(plan) < 500
    tallies.count()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert tallies.count() == 0
    assert not any("ingestion_joboutcome AS outcome" in query["sql"] for query in queries), "nothing new, nothing asked"
