"""Replaying: many dead letters come back, a few at a time, so that they never crowd out what is new.

One job that a person retries takes any free place (`reviving`). Many at once fill at most a share of the bound, each
behind what its caller has waiting; the rest stays a dead letter until workers have made room.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import transaction

from ingestion import reviving
from ingestion.models import Job, QueueState
from ingestion.queue import controlling, replays
from ingestion.queue.controlling import Bound, QueueFull
from ingestion.reviving import NotRevivable

# A quarter: new work keeps three of four places, whatever is replayed beside it, and a thousand dead letters are
# still back within a few fillings of the queue.
REPLAY_SHARE = 0.25


class NoRoom(Exception):
    """Replays fill their share of the bound, or the queue is full; the job stays as it is."""


class Draining(Exception):
    """An operator has paused admission to the queue; the job stays as it is."""


@dataclass(frozen=True)
class Replay:
    """What became of one job: `detail` says why it is not queued."""

    job_id: UUID
    outcome: Literal["queued", "refused"]
    detail: str = ""


def share_of(queue: str) -> Bound:
    """The most that replays may fill: a share of the bound, at least one job."""
    bound = controlling.bound_of(queue)
    jobs, units, size = (int(most * REPLAY_SHARE) for most in (bound.jobs, bound.units, bound.bytes))
    return Bound(max(1, jobs), units, size)


def room(queue: str) -> int:
    """How many more jobs replays may add now, as far as jobs are counted: by the share and by the queue's depth."""
    depth = QueueState.objects.get(queue=queue)
    if depth.is_draining:
        return 0
    left = share_of(queue).jobs - replays.replayed(queue).jobs
    return max(0, min(left, controlling.bound_of(queue).jobs - depth.jobs))


@transaction.atomic
def replay_one(job_id: UUID) -> None:
    """The job is queued with a fresh budget behind its caller's own. Raises NotRevivable, NoRoom or Draining.

    Lock order: the queue's replay lock, job, depth.
    """
    row = Job.objects.filter(id=job_id).values_list("queue", "units", "bytes").first()
    if row is None:
        raise NotRevivable(f"There is no job {job_id}.")
    queue, units, size = row
    replays.lock(queue)
    if not _fits(queue, units, size):
        raise NoRoom(queue)
    replays.stand_behind(job_id)
    try:
        reviving.revive(job_id)
    except QueueFull:
        is_draining = QueueState.objects.filter(queue=queue, is_draining=True).exists()
        raise Draining(queue) if is_draining else NoRoom(queue) from None


def _fits(queue: str, units: int, size: int) -> bool:
    """The share holds the job beside those that are under way. One alone always fits, however large it is."""
    taken, share = replays.replayed(queue), share_of(queue)
    if not taken.jobs:
        return True
    return taken.jobs < share.jobs and taken.units + units <= share.units and taken.bytes + size <= share.bytes


def replay(jobs: Iterable[UUID], wait: Callable[[], bool]) -> Iterator[Replay]:
    """What became of each job, in order; where there is no room, `wait` is asked until it says that it is enough.

    Ends early when `wait` returns False, and raises Draining: what is left stays as it is.
    """
    for job_id in jobs:
        while True:
            try:
                replay_one(job_id)
            except NotRevivable as error:
                yield Replay(job_id, "refused", str(error))
            except NoRoom:
                if wait():
                    continue
                return
            else:
                yield Replay(job_id, "queued")
            break
