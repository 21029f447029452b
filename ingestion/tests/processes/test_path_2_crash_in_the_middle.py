"""Failure path 2 (constructed): a worker crashes in the middle of a job, after some chunks and vectors are saved."""

import math

import pytest

from ingestion.models import Chunk, Job, Summary
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.holding import (
    BATCHES_BEFORE,
    INPUTS_A_BATCH,
    hang_in_third_batch,
    hangs_with_vectors_saved,
)
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import (
    assert_ledgers_agree,
    assert_saved_once,
    calls_of,
    eventually,
    outcomes,
    vectors_of,
)
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]


def test_after_a_crash_each_position_has_one_row_and_one_vector_and_only_the_cut_call_is_repeated(
    crew: Crew, uploader: Uploader, simulator: Simulator
) -> None:
    hang_in_third_batch(simulator)
    job = uploader.upload("returns")
    first = crew.worker("first")
    saved = hangs_with_vectors_saved(simulator, job)
    summary, chunks = Summary.objects.get(job_id=job).pk, set(Chunk.objects.values_list("id", flat=True))
    first.kill()
    assert Job.objects.get(id=job).state == "running"

    crew.worker("second")
    eventually("the job succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    count = assert_saved_once(job)
    assert outcomes(job) == [(1, "lease_expired"), (2, "succeeded")]
    assert Job.objects.get(id=job).attempt == 2
    # What was saved before the crash is the same row after it.
    assert Summary.objects.get(job_id=job).pk == summary
    assert set(Chunk.objects.values_list("id", flat=True)) == chunks
    assert set(saved) < set(vectors_of(job))

    calls = calls_of(job)
    batches = math.ceil(count / INPUTS_A_BATCH)
    assert [call.generation for call in calls] == [1] * (1 + BATCHES_BEFORE + 1) + [2] * (batches - BATCHES_BEFORE)
    assert [call.step for call in calls].count("summarize") == 1
    # One call more than a job without a crash needs: the one that was under way, whose outcome nobody saw.
    assert len(calls) == 1 + batches + 1
    cut = [call for call in calls if call.outcome is None]
    assert [(call.generation, call.step, call.inputs) for call in cut] == [(1, "embed", INPUTS_A_BATCH)]
    assert_ledgers_agree(simulator.ledger()["calls"])


def test_a_crash_in_the_summary_repeats_the_summary_alone(crew: Crew, uploader: Uploader, simulator: Simulator) -> None:
    simulator.fault("chat/completions", "timeout")
    job = uploader.upload("returns", sections=1)
    first = crew.worker("first")
    eventually("the summary is asked for", lambda: simulator.ledger()["totals"]["calls"] == 1)
    first.kill()
    crew.worker("second")
    eventually("the job succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    assert_saved_once(job)
    steps = [(call.generation, call.step, call.outcome) for call in calls_of(job)]
    assert steps[:2] == [(1, "summarize", None), (2, "summarize", "ok")]
    assert {step for _, step, _ in steps[2:]} == {"embed"}
    assert_ledgers_agree(simulator.ledger()["calls"])
