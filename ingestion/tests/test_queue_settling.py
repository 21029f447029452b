"""A claim ends once, only under its own generation; what each ending costs."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from ingestion import jobs
from ingestion.models import Job, JobOutcome
from ingestion.queue import settling, sweeping
from ingestion.queue.backoff import delay_seconds
from ingestion.queue.claims import Claim
from ingestion.queue.controlling import cancel, revive
from ingestion.queue.kinds import Kind
from ingestion.queue.outcomes import ClaimLost, Done, Outcome, Reject, Rejected, Wait
from ingestion.queue.storable import storable
from ingestion.tests.making import (
    change_job,
    claim_one,
    depth,
    job,
    live_depth,
    make_caller,
    make_job,
    make_ready,
    run_out,
)
from ingestion.worker import running

pytestmark = pytest.mark.django_db

LATER = datetime.now(UTC) + timedelta(hours=1)

VERBS: dict[str, Callable[[Claim], None]] = {
    "finish": lambda one: settling.finish(one, "succeeded"),
    "wait": lambda one: settling.wait(one, LATER, "provider_quota", "chat"),
    "give back": settling.give_back,
    "retry": lambda one: settling.retry_or_bury(one, "odd", "odd"),
    "fence": lambda one: settling.fence(one, done=1, total=2),
}


@pytest.fixture
def claimed() -> Claim:
    make_job(make_caller())
    return claim_one()


def snapshot() -> tuple[object, object, object]:
    return list(Job.objects.order_by("id").values()), list(JobOutcome.objects.order_by("id").values()), depth()


def lose_by_rescue(one: Claim) -> None:
    run_out(one)
    sweeping.rescue()


def lose_to_another(one: Claim) -> None:
    lose_by_rescue(one)
    assert claim_one("mei").generation == one.generation + 1


def lose_by_cancel(one: Claim) -> None:
    assert cancel([one.id], running_too=True) == {one.id}


def lose_by_finishing(one: Claim) -> None:
    settling.finish(one, "succeeded")


@pytest.mark.parametrize("lose", [lose_by_rescue, lose_to_another, lose_by_cancel, lose_by_finishing])
@pytest.mark.parametrize("verb", VERBS)
def test_a_claim_that_was_lost_changes_nothing(claimed: Claim, lose: Callable[[Claim], None], verb: str) -> None:
    lose(claimed)
    before = snapshot()
    with pytest.raises(ClaimLost):
        VERBS[verb](claimed)
    assert claimed.lost.is_set()
    assert snapshot() == before


@pytest.mark.parametrize("lose", [lose_by_rescue, lose_to_another, lose_by_cancel, lose_by_finishing])
def test_a_claim_that_was_lost_extends_nothing(claimed: Claim, lose: Callable[[Claim], None]) -> None:
    lose(claimed)
    before = snapshot()
    assert settling.extend([claimed]) == set()
    assert snapshot() == before


def test_a_lease_that_ran_out_but_was_given_to_nobody_is_still_ours(claimed: Claim) -> None:
    run_out(claimed)
    assert settling.extend([claimed]) == {claimed.key}
    assert sweeping.rescue() == []
    settling.finish(claimed, "succeeded")


# --- what an ending costs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "attempt", "waiting_for"), [("wait", 0, "provider_quota"), ("give back", 0, None), ("retry", 1, "backoff")]
)
def test_a_wait_and_a_give_back_return_the_try_and_a_failure_keeps_it(
    claimed: Claim, verb: str, attempt: int, waiting_for: str | None
) -> None:
    VERBS[verb](claimed)
    row = job(claimed.id)
    assert (row.state, row.attempt, row.waiting_for, row.lease_until) == ("queued", attempt, waiting_for, None)
    assert row.generation == claimed.generation
    assert JobOutcome.objects.get().generation == claimed.generation
    assert depth() == live_depth()


def test_a_lease_that_ran_out_charges_its_try(claimed: Claim) -> None:
    lose_by_rescue(claimed)
    row = job(claimed.id)
    assert (row.state, row.attempt, row.error_code) == ("queued", 1, "lease_expired")


def test_a_thousand_waits_spend_no_budget_and_the_generation_only_grows() -> None:
    made = make_job(make_caller())
    for number in range(1, 31):
        found = claim_one()
        assert (found.generation, found.attempt) == (number, 1)
        settling.wait(found, datetime.now(UTC) - timedelta(seconds=1), "provider_quota", "chat")
    assert JobOutcome.objects.filter(job_id=made).count() == 30


def test_with_the_budget_spent_the_job_is_a_dead_letter_with_its_reason_and_its_place_is_free(
    settings: Settings,
) -> None:
    settings.MAX_ATTEMPTS = 3
    made = make_job(make_caller())
    for attempt in range(1, 4):
        make_ready()
        found = claim_one()
        assert found.attempt == attempt
        settling.retry_or_bury(found, "provider_500", f"try {attempt} failed")
    row = job(made)
    assert (row.state, row.attempt, row.error_code, row.error_detail) == (
        "dead_letter", 3, "provider_500", "try 3 failed",
    )  # fmt: skip
    assert row.finished_at is not None
    assert depth() == (0, 0, 0)
    assert list(JobOutcome.objects.order_by("generation").values_list("outcome", flat=True)) == [
        "retry", "retry", "dead_letter",
    ]  # fmt: skip


def test_a_wait_says_until_when_and_what_for(claimed: Claim) -> None:
    settling.wait(claimed, LATER, "provider_outage", "embeddings")
    row = job(claimed.id)
    assert (row.ready_at, row.waiting_for, row.lane) == (LATER, "provider_outage", "embeddings")


def test_a_revived_job_has_a_fresh_budget_and_a_new_generation(claimed: Claim) -> None:
    change_job(claimed.id, attempt=5, waited_seconds=99.0)
    settling.finish(claimed, "dead_letter", code="odd", detail="odd")
    assert revive(claimed.id)
    row = job(claimed.id)
    assert (row.state, row.attempt, row.generation, row.waited_seconds, row.error_code) == (
        "queued", 0, claimed.generation + 1, 0.0, "",
    )  # fmt: skip
    assert depth() == live_depth()
    with pytest.raises(ClaimLost):
        settling.give_back(claimed)


# --- backoff (pure) -------------------------------------------------------------------------------------------------


@given(attempt=st.integers(-5, 10_000), base=st.floats(0, 1000), most=st.floats(0, 1e6), pick=st.floats(0, 1))
def test_a_backoff_is_between_nothing_and_its_cap(attempt: int, base: float, most: float, pick: float) -> None:
    assert 0 <= delay_seconds(attempt, base=base, most=most, pick=pick) <= most


def test_a_backoff_doubles_and_jitter_spreads_it_over_the_whole_interval() -> None:
    ceilings = [delay_seconds(attempt, base=2, most=300, pick=1.0) for attempt in range(1, 10)]
    assert ceilings == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    drawn = [delay_seconds(3, base=2, most=300) for _ in range(400)]
    assert min(drawn) < 1.0
    assert max(drawn) > 7.0


def test_a_failed_try_is_ready_again_after_its_backoff(claimed: Claim, settings: Settings) -> None:
    settings.BACKOFF_BASE_SECONDS, settings.BACKOFF_MAX_SECONDS = 100.0, 100.0
    settling.retry_or_bury(claimed, "odd", "odd")
    wait = (job(claimed.id).ready_at - datetime.now(UTC)).total_seconds()
    assert -5 <= wait <= 100


# --- a handler's answer becomes one settlement ----------------------------------------------------------------------


def settled(one: Claim, handler: Callable[[Claim], Outcome], rejected_state: str = "failed") -> Job:
    running.run(one, Kind(one.kind, "documents", handler, rejected_state), pause=lambda seconds: None)
    return job(one.id)


def raising(error: Exception) -> Callable[[Claim], Outcome]:
    def handler(_: Claim) -> Outcome:
        raise error

    return handler


def test_done_commits_its_effect_with_the_settlement(claimed: Claim) -> None:
    row = settled(claimed, lambda one: Done(effect=lambda: change_job(one.id, request_id="effect")))
    assert (row.state, row.request_id) == ("succeeded", "effect")


def test_an_effect_that_fails_leaves_nothing_of_itself(claimed: Claim) -> None:
    def effect() -> None:
        change_job(claimed.id, request_id="half")
        raise ValueError("no")

    row = settled(claimed, lambda one: Done(effect=effect))
    assert (row.state, row.request_id, row.error_code) == ("queued", "", "ValueError")


def test_an_effect_whose_claim_was_lost_leaves_nothing_of_itself(claimed: Claim) -> None:
    def effect() -> None:
        lose_by_rescue(claimed)
        change_job(claimed.id, request_id="half")

    with transaction.atomic():
        row = settled(claimed, lambda one: Done(effect=effect))
    assert (row.request_id, row.state) == ("", "running")


@pytest.mark.parametrize(("rejected_state"), ["failed", "dead_letter"])
@pytest.mark.parametrize("how", ["returned", "raised", "raised in the effect"])
def test_what_a_retry_cannot_fix_ends_at_once(claimed: Claim, rejected_state: str, how: str) -> None:
    def effect() -> None:
        raise Rejected("bad", "never")

    handler = {
        "returned": lambda one: Reject("bad", "never"),
        "raised": raising(Rejected("bad", "never")),
        "raised in the effect": lambda one: Done(effect),
    }[how]
    row = settled(claimed, handler, rejected_state)
    assert (row.state, row.error_code, row.error_detail, row.attempt) == (rejected_state, "bad", "never", 1)


def test_a_wait_of_the_handler_is_free(claimed: Claim) -> None:
    row = settled(claimed, lambda one: Wait(LATER, "provider_outage", lane="embeddings"))
    assert (row.state, row.attempt, row.waiting_for, row.lane) == ("queued", 0, "provider_outage", "embeddings")


@pytest.mark.parametrize(
    "text", ["a NUL \x00 inside", "a lone surrogate \ud800", "\x1b[31mred", "x" * 5_000, "\x00" * 5_000]
)
def test_no_error_text_can_keep_a_job_from_ending(claimed: Claim, text: str) -> None:
    class Odd(Exception):
        code = text

    row = settled(claimed, raising(Odd(text)))
    assert row.state == "queued"
    assert 0 < len(row.error_detail) <= settling.DETAIL_MAX
    assert 0 < len(row.error_code) <= 64
    assert "\x00" not in row.error_detail + row.error_code
    make_ready()
    again = claim_one()
    assert settled(again, lambda one: Reject(text, text)).state == "failed"


@given(st.text(alphabet=st.characters(codec=None), max_size=50))
def test_whatever_the_text_it_can_be_encoded_and_holds_no_nul(text: str) -> None:
    cleaned = storable(text, 20)
    assert "\x00" not in cleaned
    assert len(cleaned) <= 20
    cleaned.encode()


def test_each_kind_names_its_queue_and_where_it_ends_when_rejected() -> None:
    assert {kind.name: (kind.queue, kind.rejected_state) for kind in jobs.KINDS.values()} == {
        "ingest_version": ("documents", "failed"),
        "reembed_version": ("documents", "failed"),
        "apply_event": ("events", "dead_letter"),
    }
