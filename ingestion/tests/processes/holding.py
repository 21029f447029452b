"""Holding a job at a known place: the provider answers some calls and then hangs, so a signal lands in the middle.

`shuffled` is an answer that the product puts in order again: harmless, and it counts calls before the one that hangs.
"""

from uuid import UUID

from ingestion.tests.processes.watching import eventually, vectors_of
from ingestion.tests.simulated import Simulator

# Of `policy(…)` under EMBEDDING_BATCH_INPUTS = 2.
INPUTS_A_BATCH = 2
BATCHES_BEFORE = 2


def hang_in_third_batch(simulator: Simulator) -> None:
    """Two batches of vectors come well, the third call hangs."""
    simulator.fault("embeddings", "shuffled", BATCHES_BEFORE)
    simulator.fault("embeddings", "timeout")


def hangs_with_vectors_saved(simulator: Simulator, job: UUID) -> list[int]:
    """Waits until the third call is under way; returns the vector rows that are saved by then."""
    eventually("the third batch hangs", lambda: _statuses(simulator) == [200] * BATCHES_BEFORE + [0])
    saved = vectors_of(job)
    assert len(saved) == INPUTS_A_BATCH * BATCHES_BEFORE
    return saved


def _statuses(simulator: Simulator) -> list[int]:
    """Of the embeddings calls that have reached the provider."""
    return [call["status"] for call in simulator.ledger()["calls"] if call["path"] == "embeddings"]


def unanswered(simulator: Simulator, path: str) -> int:
    """How many calls of the path have reached the provider and got no answer."""
    return sum(call["path"] == path and call["status"] == 0 for call in simulator.ledger()["calls"])
