"""The words in which a handler answers; `settling` turns each into SQL.

A handler returns Done, Wait or Reject, or it raises: then the try is charged and retried by backoff.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal


class ClaimLost(Exception):
    """The job runs under another generation, or no longer: drop the work and touch nothing."""


class Rejected(Exception):
    """Raised inside an effect: this can never succeed."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail


def _nothing() -> None:
    """The effect of a job whose output is already saved."""


@dataclass(frozen=True)
class Done:
    """Finished. `effect` runs in the transaction that settles the job: both commit or neither."""

    effect: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Wait:
    """Not now, for a reason outside the job: free, holds no slot. `lane` is what the next step needs."""

    until: datetime
    reason: Literal["provider_quota", "provider_outage"]
    lane: str = ""


@dataclass(frozen=True)
class Reject:
    """A retry cannot fix it."""

    code: str
    detail: str


Outcome = Done | Wait | Reject
