"""A state machine drives the queue's verbs in any order, late ones too, against a model of what must be true.

One transaction holds a whole example and is undone at its end, so that thousands of examples cost seconds.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test
from pytest_django import Settings

from ingestion.models import Caller
from ingestion.queue import controlling, settling, sweeping
from ingestion.queue.claims import Claim
from ingestion.queue.controlling import NewJob, QueueFull
from ingestion.queue.outcomes import ClaimLost
from ingestion.tests.making import claims, make_caller, make_ready, run_out

# In CI as many as the promise asks for; at the desk enough to find a fault that is there.
EXAMPLES = 2_000 if os.environ.get("CI") else 250
STEPS = 18
BOUND = 4
BUDGET = 3
LATER = datetime(2100, 1, 1, tzinfo=UTC)
LIVE = ("queued", "running")
ENDS = ("succeeded", "failed", "dead_letter")

# By id, because the undone examples before this one still fill the table's pages.
STANDING = """
SELECT job.id, job.state, job.attempt, job.generation, depth.jobs, depth.units, depth.bytes,
       (SELECT count(*) FROM ingestion_joboutcome WHERE job_id = ANY(%(ids)s))
FROM ingestion_queuestate AS depth LEFT JOIN ingestion_job AS job ON job.id = ANY(%(ids)s)
WHERE depth.queue = 'documents'
"""


@dataclass
class Expected:
    """What must stand in a job's row."""

    state: str = "queued"
    attempt: int = 0
    generation: int = 0
    is_ready: bool = True
    is_stale: bool = False

    @property
    def row(self) -> tuple[str, int, int]:
        return (self.state, self.attempt, self.generation)


class QueueMachine(RuleBasedStateMachine):
    """The verbs as rules; `check` compares every row, the depth and the outcomes after each step."""

    callers: list[Caller] = []
    jobs = Bundle("jobs")
    claimed = Bundle("claimed")

    def __init__(self) -> None:
        super().__init__()
        self.savepoint = transaction.savepoint()
        self.expected: dict[UUID, Expected] = {}
        self.outcomes = 0

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.savepoint)

    def _live(self) -> list[UUID]:
        return [job_id for job_id, one in self.expected.items() if one.state in LIVE]

    def _is_ours(self, claim: Claim) -> bool:
        one = self.expected[claim.id]
        return one.state == "running" and one.generation == claim.generation

    # --- in ---------------------------------------------------------------------------------------------------------

    @rule(target=jobs, caller=st.integers(0, 1))
    def admit(self, caller: int) -> Any:
        new = NewJob("documents", "ingest_version", self.callers[caller].pk, units=1, bytes=2, lane="chat")
        try:
            with transaction.atomic():
                made = controlling.insert(new)
                controlling.take_place("documents", 1, 2)
        except QueueFull:
            assert len(self._live()) == BOUND
            return multiple()
        assert len(self._live()) < BOUND
        make_ready(made)
        self.expected[made] = Expected()
        return made

    @rule(job_id=jobs)
    def revive(self, job_id: UUID) -> None:
        one = self.expected[job_id]
        may = one.state in ("dead_letter", "failed")
        try:
            with transaction.atomic():
                assert controlling.revive(job_id) is may
        except QueueFull:
            assert may
            assert len(self._live()) == BOUND
            return
        if may:
            one.state, one.attempt, one.generation, one.is_ready = "queued", 0, one.generation + 1, True

    # --- a worker ---------------------------------------------------------------------------------------------------

    @rule(target=claimed)
    def claim(self) -> Any:
        ready = {job_id for job_id, one in self.expected.items() if one.state == "queued" and one.is_ready}
        found = claims(1)
        assert len(found) == min(1, len(ready))
        if not found:
            return multiple()
        one = self.expected[found[0].id]
        assert found[0].id in ready
        one.state, one.attempt, one.generation, one.is_stale = "running", one.attempt + 1, one.generation + 1, False
        assert found[0].key == (found[0].id, one.generation)
        assert found[0].attempt == one.attempt <= BUDGET
        return found[0]

    def _settle(self, claim: Claim, verb: Any) -> bool:
        """Runs a settlement; False where the claim was lost, as the model has it too."""
        ours = self._is_ours(claim)
        try:
            verb(claim)
        except ClaimLost:
            assert not ours
            return False
        assert ours
        return True

    def _requeued(self, claim: Claim, *, refund: int, is_ready: bool) -> None:
        one = self.expected[claim.id]
        one.state, one.attempt, one.is_ready = "queued", one.attempt - refund, is_ready
        self.outcomes += 1

    # A settled claim may be settled again later, as a late worker does: so it stays in the bundle.
    @rule(claim=claimed, state=st.sampled_from(ENDS))
    def finish(self, claim: Claim, state: str) -> None:
        if self._settle(claim, lambda one: settling.finish(one, state)):
            self.expected[claim.id].state = state
            self.outcomes += 1

    @rule(claim=claimed)
    def wait(self, claim: Claim) -> None:
        if self._settle(claim, lambda one: settling.wait(one, LATER, "provider_quota", "chat")):
            self._requeued(claim, refund=1, is_ready=False)

    @rule(claim=claimed)
    def give_back(self, claim: Claim) -> None:
        if self._settle(claim, settling.give_back):
            self._requeued(claim, refund=1, is_ready=True)

    @rule(claim=claimed)
    def fail(self, claim: Claim) -> None:
        if self._settle(claim, lambda one: settling.retry_or_bury(one, "odd", "odd")):
            one = self.expected[claim.id]
            if one.attempt >= BUDGET:
                one.state = "dead_letter"
                self.outcomes += 1
            else:
                self._requeued(claim, refund=0, is_ready=False)

    @rule(claim=claimed)
    def fence(self, claim: Claim) -> None:
        self._settle(claim, lambda one: settling.fence(one, done=1, total=2))

    @rule(claim=claimed)
    def extend(self, claim: Claim) -> None:
        ours = self._is_ours(claim)
        assert settling.extend([claim]) == ({claim.key} if ours else set())
        if ours:
            self.expected[claim.id].is_stale = False

    @rule(claim=claimed)
    def lose_the_lease(self, claim: Claim) -> None:
        if self._is_ours(claim):
            run_out(claim)
            self.expected[claim.id].is_stale = True

    # --- time and people --------------------------------------------------------------------------------------------

    @rule()
    def rescue(self) -> None:
        stale = {job_id: one for job_id, one in self.expected.items() if one.state == "running" and one.is_stale}
        found = {job_id: state for job_id, state, _ in sweeping.rescue()}
        assert found.keys() == stale.keys()
        for job_id, one in stale.items():
            one.state, one.is_ready = ("dead_letter" if one.attempt >= BUDGET else "queued"), True
            assert found[job_id] == one.state
            self.outcomes += 1

    @rule(target=claimed, claim=claimed)
    def take_over(self, claim: Claim) -> Any:
        """Three verbs in a row, so that late claims of a job that runs elsewhere are common."""
        self.lose_the_lease(claim)
        self.rescue()
        return self.claim()

    @rule()
    def let_time_pass(self) -> None:
        make_ready()
        for one in self.expected.values():
            one.is_ready = True

    @rule(job_id=jobs, running_too=st.booleans())
    def cancel(self, job_id: UUID, running_too: bool) -> None:
        one = self.expected[job_id]
        may = one.state == "queued" or (running_too and one.state == "running")
        assert controlling.cancel([job_id], running_too=running_too) == ({job_id} if may else set())
        if may:
            one.state, one.generation = "cancelled", one.generation + 1
            self.outcomes += 1

    @rule(job_id=jobs)
    def pass_the_deadline(self, job_id: UUID) -> None:
        one = self.expected[job_id]
        if one.state != "queued":
            return
        with connection.cursor() as cursor:
            cursor.execute("UPDATE ingestion_job SET expires_at = now() WHERE id = %s", [job_id])
        assert sweeping.expire() == [job_id]
        one.state, one.generation = "expired", one.generation + 1
        self.outcomes += 1

    # --- what is always true ----------------------------------------------------------------------------------------

    @invariant()
    def check(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(STANDING, {"ids": list(self.expected)})
            found = cursor.fetchall()
        rows = {row[0]: tuple(row[1:4]) for row in found if row[0]}
        *depth, outcomes = found[0][4:]
        assert rows == {job_id: one.row for job_id, one in self.expected.items()}
        live = len(self._live())
        assert depth == [live, live, 2 * live]
        assert live <= BOUND
        # One for each generation that was settled: no job has two endings of one claim.
        assert outcomes == self.outcomes


@pytest.mark.django_db
def test_the_verbs_hold_every_invariant_in_whatever_order_they_come(settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = BOUND
    settings.MAX_ATTEMPTS = BUDGET
    QueueMachine.callers = [make_caller("omar"), make_caller("mei")]
    run_state_machine_as_test(
        QueueMachine,
        settings=hypothesis_settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
