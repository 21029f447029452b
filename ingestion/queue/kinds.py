"""What a kind of job is; the table of the product's kinds is `ingestion.jobs`."""

from collections.abc import Callable
from dataclasses import dataclass

from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Outcome

Handler = Callable[[Claim], Outcome]


@dataclass(frozen=True)
class Kind:
    """`rejected_state`: where a job ends that a retry can't fix (a dead letter can be repaired and retried)."""

    name: str
    queue: str
    handler: Handler
    rejected_state: str = "failed"
