"""An effect outside the database: a call that was paid for twice changes nothing twice, and both books explain it.

A holds generation 4, has its summary from the provider and pauses before it saves it. B claims generation 5 and
publishes. A goes on: what it writes is fenced off. The provider's call can't be undone; it is found by its id.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from ingestion.models import Chunk, DocumentVersion, Job, ProviderCall, Summary
from ingestion.pipeline import saving, summarizing
from ingestion.provider import ledger
from ingestion.queue import settling, sweeping
from ingestion.queue.claims import Claim
from ingestion.reconciling import check_all
from ingestion.tests.making import Uploader, change_job, claim_one, claims, make_ready, run, run_out
from ingestion.tests.processes.watching import assert_saved_once, outcomes
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

DEADLINE_SECONDS = 30.0
EARLIER = 3


@dataclass
class Paused:
    """Worker A between the provider's answer and its own save."""

    has_answer: threading.Event = field(default_factory=threading.Event)
    may_go_on: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    settled: list[bool] = field(default_factory=list)

    def go_on(self) -> None:
        """A has gone on and come to its end."""
        self.may_go_on.set()
        assert self.thread is not None
        self.thread.join(DEADLINE_SECONDS)
        assert not self.thread.is_alive()


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paused]:
    """The first claim that comes to the save of its summary stops there."""
    held = Paused()
    save = saving.save

    def hold(claim: Claim, write: Callable[[], None]) -> None:
        if claim.generation == EARLIER + 1:
            held.has_answer.set()
            held.may_go_on.wait(DEADLINE_SECONDS)
        save(claim, write)

    monkeypatch.setattr(summarizing, "save", hold)
    yield held
    held.may_go_on.set()


def start(held: Paused) -> UUID:
    """A runs a job under generation 4 and has its answer; the lease is over and the job waits again."""
    job = UUID(Uploader().accepted()["job"]["id"])
    change_job(job, generation=EARLIER)
    one = claim_one("worker-a")
    assert (one.id, one.generation) == (job, EARLIER + 1)

    def work() -> None:
        try:
            held.settled.append(run(one))
        finally:
            connection.close()

    held.thread = threading.Thread(target=work)
    held.thread.start()
    assert held.has_answer.wait(DEADLINE_SECONDS)
    run_out(one)
    sweeping.rescue()
    make_ready(job)
    return job


def finish_as_b() -> None:
    """B claims generation 5 and completes the job."""
    while found := [*claims(worker="worker-b"), *claims(worker="worker-b", lane="embeddings")]:
        for one in found:
            run(one)


def rows(job: UUID) -> list[Any]:
    """All that the job has made, as it stands."""
    found = Job.objects.filter(id=job).values_list("state", "generation", "attempt", "finished_at", "error_code").get()
    version = DocumentVersion.objects.filter(job_id=job).values_list("published_at", "text_sha256", "chunk_count").get()
    chunks = list(
        Chunk.objects.filter(job_id=job).order_by("position").values_list("id", "input_hash", "is_searchable")
    )
    return [
        found,
        row_version(job),
        version,
        chunks,
        list(Summary.objects.filter(job_id=job).values_list("id", "text")),
    ]


def row_version(job: UUID) -> str:
    """Who wrote the job's row last, by PostgreSQL's own count: any write changes it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin::text FROM ingestion_job WHERE id = %s", [job])
        return str(cursor.fetchone()[0])


def test_a_late_worker_saves_nothing_and_both_ledgers_name_both_calls(paused: Paused, simulator: Simulator) -> None:
    job = start(paused)
    finish_as_b()
    before = rows(job)
    paused.go_on()
    assert rows(job) == before
    assert outcomes(job) == [(EARLIER + 1, "lease_expired"), (EARLIER + 2, "succeeded")]
    assert_saved_once(job)

    ours = {call.client_request_id: call for call in ProviderCall.objects.filter(job_id=job)}
    theirs = {call["client_request_id"]: call for call in simulator.ledger()["calls"]}
    assert ours.keys() == theirs.keys()
    summaries = [call for call in ours.values() if call.step == "summarize"]
    # The step was paid for twice; the generation in the id says which worker asked, and that only one was ours then.
    assert sorted(call.generation or 0 for call in summaries) == [EARLIER + 1, EARLIER + 2]
    for call in summaries:
        assert call.client_request_id.startswith(f"{job}-{call.generation}-summarize-")
        assert call.outcome == "ok"
        assert call.finished_at is not None
        assert call.started_at <= datetime.fromisoformat(theirs[call.client_request_id]["at"]) <= call.finished_at


def test_the_repeated_call_is_counted_once_and_shown_as_its_own(paused: Paused, simulator: Simulator) -> None:
    job = start(paused)
    finish_as_b()
    paused.go_on()
    calls, cost = ledger.cost_of_job(job)
    each = list(ProviderCall.objects.filter(job_id=job).values_list("cost_usd", flat=True))
    assert (calls, cost) == (len(each), sum(each, Decimal(0)))
    assert calls == simulator.ledger()["totals"]["calls"]
    assert [one.name for one in check_all() if not one.holds] == []


def test_without_the_fence_the_late_worker_writes_to_the_published_job(
    paused: Paused, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fence(claim: Claim, *, done: int, total: int, lane: str | None = None) -> None:
        Job.objects.filter(id=claim.id).update(progress_done=done, progress_total=total, lane=lane or "chat")

    job = start(paused)
    finish_as_b()
    before = row_version(job)
    monkeypatch.setattr(settling, "fence", fence)
    paused.go_on()
    assert row_version(job) != before
