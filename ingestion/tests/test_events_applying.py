"""Applying events: once, in order within a partition, with the checkpoint; what can't be applied blocks nobody."""

from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Sum

from ingestion import jobs
from ingestion.models import Checkpoint, Document, DocumentVersion, EventEffect, EventRecord, Job, JobOutcome, UsageDay
from ingestion.queue import controlling, settling, sweeping
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import ClaimLost, Done
from ingestion.tests.eventing import Producer, claims, depth, document, event, live_depth, work
from ingestion.worker.running import run

pytestmark = pytest.mark.django_db(transaction=True)

APPLY = jobs.KINDS["apply_event"]


def views() -> int:
    return UsageDay.objects.aggregate(total=Sum("views"))["total"] or 0


def claim_one() -> Claim:
    ((claim,),) = claims().values()
    return claim


def give_away(claim: Claim) -> Claim:
    """The lease ends and another worker claims the job; the first one does not know."""
    Job.objects.filter(pk=claim.id).update(state="queued", lease_until=None)
    return claim_one()


def test_effect_checkpoint_and_settlement_are_there_together() -> None:
    document()
    Producer().send()
    work()
    job = Job.objects.get(queue="events")
    assert (job.state, views()) == ("succeeded", 1)
    assert EventEffect.objects.get().generation == job.generation == 1
    assert Checkpoint.objects.get().last_applied == job.sequence
    assert depth() == (0, 0, 0)


def test_a_worker_that_lost_its_claim_changes_nothing_when_it_resumes() -> None:
    document()
    Producer().send()
    Job.objects.filter(queue="events").update(generation=3)
    paused = claim_one()
    other = give_away(paused)
    assert (paused.generation, other.generation) == (4, 5)
    assert run(other, APPLY)
    before = (
        list(UsageDay.objects.values()),
        list(Checkpoint.objects.values()),
        list(Job.objects.order_by("pk").values()),
    )
    assert not run(paused, APPLY), "the claim is lost"
    with pytest.raises(ClaimLost):
        settling.finish(paused, "dead_letter")
    after = (
        list(UsageDay.objects.values()),
        list(Checkpoint.objects.values()),
        list(Job.objects.order_by("pk").values()),
    )
    assert before == after
    assert (views(), EventEffect.objects.get().generation) == (1, 5)
    assert list(JobOutcome.objects.values_list("generation", "outcome")) == [(5, "succeeded")]


def test_a_paused_worker_that_comes_first_after_all_leaves_nothing_without_its_claim() -> None:
    document()
    Producer().send()
    paused = claim_one()
    other = give_away(paused)
    assert not run(paused, APPLY)
    assert (views(), EventEffect.objects.count(), Checkpoint.objects.get().last_applied) == (0, 0, 0)
    assert run(other, APPLY)
    assert views() == 1


def test_without_the_fence_the_paused_worker_would_count_twice() -> None:
    """The control: the effect alone, with neither its identity nor the settlement's generation."""
    document()
    Producer().send()
    paused = claim_one()
    other = give_away(paused)
    for claim in (other, paused):
        EventEffect.objects.all().delete()
        outcome = APPLY.handler(claim)
        assert isinstance(outcome, Done)
        with transaction.atomic():
            outcome.effect()
    assert views() == 2


def test_a_crash_between_effect_and_settlement_leaves_neither() -> None:
    document()
    Producer().send()
    claim = claim_one()
    outcome = APPLY.handler(claim)
    assert isinstance(outcome, Done)
    with suppress(KeyboardInterrupt), transaction.atomic():
        outcome.effect()
        raise KeyboardInterrupt
    assert (views(), EventEffect.objects.count()) == (0, 0)
    assert run(give_away(claim), APPLY)
    assert views() == 1


def test_events_of_a_partition_are_applied_in_the_order_of_acceptance() -> None:
    document()
    producer = Producer()
    producer.batch([event(number, partition="ab"[number % 2]) for number in range(20)])
    work()
    for partition in "ab":
        applied = list(
            EventEffect.objects.filter(event__partition=partition)
            .order_by("applied_at")
            .values_list("event__job__sequence", flat=True)
        )
        assert applied == sorted(applied)
        assert len(applied) == 10
        assert Checkpoint.objects.get(partition=partition).last_applied == applied[-1]


RATED = {"answer_id": "a", "document": "returns", "rating": 3}
CITED = {"answer_id": "a", "document": "returns", "version": 1, "position": 0}
TICKET = {"ticket_id": "t", "documents": ["returns"], "minutes": 5}


def without(payload: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key != field}


# Type, a payload that can be applied, a field of it, and what that field must not be.
WRONG: list[tuple[str, dict[str, Any], str, list[Any]]] = [
    ("answer.rated", RATED, "rating", [0, 6, "banana", "5", True, None, 4.5, [], 1e300]),
    ("answer.rated", RATED, "answer_id", [None, "", 5, "x" * 256]),
    ("answer.rated", RATED, "document", [None, "", 5, ["returns"], "never", "x" * 101]),
    ("answer.rated", RATED, "version", [0, 2, -1, "1", 10**30, 2**31, 1.5]),
    ("answer.cited", CITED, "answer_id", [None]),
    ("answer.cited", CITED, "document", [None, "never"]),
    ("answer.cited", CITED, "version", [None, 2]),
    ("answer.cited", CITED, "position", [-1, "0", None, 10**20]),
    ("document.viewed", {"document": "returns"}, "version", [None, 2, "1"]),
    ("document.viewed", {"version": 1}, "document", [None]),
    ("ticket.resolved", TICKET, "ticket_id", [None, ""]),
    ("ticket.resolved", TICKET, "documents", [None, [], "returns", {}, [5], ["returns", None], ["returns"] * 101]),
    ("ticket.resolved", TICKET, "minutes", [-1, "5", True, None, 1e300]),
]
POISON = [(kind, {**payload, field: value}, field) for kind, payload, field, values in WRONG for value in values]


POISON += [("answer.rated", without(RATED, name), name) for name in RATED]
POISON += [("ticket.resolved", without(TICKET, name), name) for name in TICKET]
POISON += [("ticket.resolved", {**TICKET, "documents": ["returns", "never"]}, "document")]
POISON += [("document.viewed", {}, "document")]


def test_poison_is_quarantined_at_once_with_the_field_in_its_error_and_blocks_nobody() -> None:
    document()
    producer = Producer()
    producer.batch([event(number, type=kind, payload=payload) for number, (kind, payload, _) in enumerate(POISON)])
    producer.send(len(POISON))
    work()
    for number, (kind, payload, field) in enumerate(POISON):
        job = Job.objects.get(event__event_id=f"e-{number}")
        assert (job.state, job.error_code, job.attempt) == ("dead_letter", "invalid_payload", 1), (kind, payload)
        assert f"payload.{field}" in job.error_detail, (kind, payload, job.error_detail)
    assert producer.state_of(len(POISON)) == "completed", "it stood behind them all in their partition"
    assert (views(), EventEffect.objects.count()) == (1, 1)
    assert depth() == live_depth() == (0, 0, 0)


def test_an_event_about_a_deleted_document_or_version_is_poison() -> None:
    gone = document()
    Document.objects.filter(pk=gone.pk).update(deleted_at="2026-11-27T09:00:00Z")
    document("refunds", versions=2)
    DocumentVersion.objects.filter(document__slug="refunds", number=1).update(deleted_at="2026-11-27T09:00:00Z")
    producer = Producer()
    producer.batch([event(1), event(2, payload={"document": "refunds", "version": 1})])
    work()
    assert [producer.state_of(number) for number in (1, 2)] == ["quarantined", "quarantined"]
    assert not UsageDay.objects.exists()


def test_a_repaired_event_is_applied_once_out_of_its_turn() -> None:
    document()
    producer = Producer()
    producer.batch([event(1, payload={"document": "retruns", "version": 1}), event(2), event(3)])
    work()
    passed = Checkpoint.objects.get().last_applied
    broken = EventRecord.objects.get(event_id="e-1")
    EventRecord.objects.filter(pk=broken.pk).update(payload={"document": "returns", "version": 1})
    with transaction.atomic():
        assert controlling.revive(broken.job_id)
    work()
    assert [producer.state_of(number) for number in (1, 2, 3)] == ["completed"] * 3
    assert (views(), Checkpoint.objects.get().last_applied) == (3, passed)
    assert producer.send(1, payload={"document": "retruns", "version": 1})["Idempotent-Replayed"] == "true"
    assert depth() == (0, 0, 0)


def test_a_ticket_counts_each_of_its_documents_once() -> None:
    for slug in ("b", "a", "c"):
        document(slug)
    Producer().send(type="ticket.resolved", payload={**TICKET, "documents": ["c", "a", "c", "b", "a"]})
    work()
    assert sorted(UsageDay.objects.values_list("document__slug", "resolved", "version_number")) == [
        ("a", 1, 0), ("b", 1, 0), ("c", 1, 0),
    ]  # fmt: skip


def test_an_event_that_is_too_late_is_expired_kept_and_counted() -> None:
    document()
    producer = Producer()
    producer.send(1, expires_at="2099-01-01T00:00:00Z")
    Job.objects.filter(queue="events").update(expires_at="2026-01-01T00:00:00Z")
    assert claims() == {}
    assert len(sweeping.expire()) == 1
    assert producer.state_of(1) == "expired"
    assert (producer.ledger()["expired"], producer.ledger()["balanced"], views()) == (1, True, 0)
    assert depth() == (0, 0, 0)
