"""What a kind of job is; the table of the product's kinds is `ingestion.jobs`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import Outcome

Handler = Callable[[Claim], Outcome]
Together = Callable[[Sequence[Claim]], None]


@dataclass(frozen=True)
class Kind:
    """`rejected_state`: where a job ends that a retry can't fix (a dead letter can be repaired and retried).

    `together` is what the handler's `Done` would do for several claims, in the transaction that settles all of them.
    Whatever it raises undoes all of it, and the claims are tried again in smaller parts, at last one by one.
    """

    name: str
    queue: str
    handler: Handler
    rejected_state: str = "failed"
    together: Together | None = None
