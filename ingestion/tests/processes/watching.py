"""Waiting for what must come, always with a deadline, and what the tables say about a job."""

import time
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection

from ingestion.models import Chunk, ChunkVector, Job, JobOutcome, ProviderCall, Summary

T = TypeVar("T")

# Generous, because the machine may be busy; a test that passes never waits this long.
DEADLINE_SECONDS = 90.0
LOOK_SECONDS = 0.02


def eventually(what: str, found: Callable[[], T], within: float = DEADLINE_SECONDS) -> T:
    """The first true answer of `found`; AssertionError that names `what` when none comes in time."""
    deadline = time.monotonic() + within
    while True:
        answer = found()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what} (last answer: {answer!r})")
        time.sleep(LOOK_SECONDS)


def states(jobs: list[UUID]) -> dict[str, int]:
    """How many of the jobs are in which state."""
    found: dict[str, int] = {}
    for state in Job.objects.filter(id__in=jobs).values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def all_are(jobs: list[UUID], state: str) -> bool:
    return states(jobs) == {state: len(jobs)}


def outcomes(job: UUID) -> list[tuple[int, str]]:
    """(generation, outcome) of each settlement of the job, in order."""
    return list(JobOutcome.objects.filter(job_id=job).order_by("generation").values_list("generation", "outcome"))


def vectors_of(job: UUID) -> list[int]:
    """The ids of the vector rows of the job's chunks."""
    return list(ChunkVector.objects.filter(chunk__job_id=job).order_by("id").values_list("id", flat=True))


def calls_of(job: UUID) -> list[ProviderCall]:
    """The product's own record of the job's provider calls, in order."""
    return list(ProviderCall.objects.filter(job_id=job).order_by("id"))


def assert_saved_once(job: UUID) -> int:
    """Each chunk position has one row and one vector, without a hole, and there is one summary; returns how many."""
    positions = list(Chunk.objects.filter(job_id=job).order_by("position").values_list("position", flat=True))
    assert positions == list(range(len(positions)))
    assert positions
    owners = list(
        ChunkVector.objects.filter(chunk__job_id=job).order_by("chunk__position").values_list("chunk__position")
    )
    assert [position for (position,) in owners] == positions
    assert Summary.objects.filter(job_id=job).count() == 1
    return len(positions)


def assert_ledgers_agree(simulator_calls: list[dict[str, Any]]) -> None:
    """Each call that reached the provider was written down before, once, and nothing else was."""
    reached = sorted(call["client_request_id"] for call in simulator_calls)
    written = sorted(ProviderCall.objects.values_list("client_request_id", flat=True))
    assert reached == written


def sessions(name: str) -> list[tuple[int, str]]:
    """(process number, state) of each database session that is called `name`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, coalesce(state, '') FROM pg_stat_activity WHERE application_name = %s ORDER BY pid", [name]
        )
        return list(cursor.fetchall())
