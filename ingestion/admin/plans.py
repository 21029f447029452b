"""What an action on many jobs would do, told before it is done: counts by outcome, and what stands in the way."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import F

from ingestion import replaying
from ingestion.models import Job, QueueState
from ingestion.queue import controlling

# More at once would keep the page waiting for minutes; the rest can be chosen again.
CHOSEN_MAX = 1_000
RETRIED_STATES = ("dead_letter", "failed")


@dataclass
class Plan:
    """`able` in order of work, counted by queue in `fitting` and `waiting`; `unable` counts the others by reason."""

    able: list[UUID] = field(default_factory=list)
    fitting: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    unable: Counter[str] = field(default_factory=Counter)
    draining: list[str] = field(default_factory=list)

    @property
    def fits(self) -> int:
        return sum(self.fitting.values())

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """For a template, to which a Counter answers every name with 0."""
        return self.unable.most_common()


def retrying(chosen: Sequence[UUID]) -> Plan:
    """What retrying these jobs would do now."""
    plan, by_queue = Plan(), Counter[str]()
    found = Job.objects.filter(id__in=chosen).order_by("finished_at", "id")
    for job_id, queue, state, deleted_at in found.values_list("id", "queue", "state", F("version__deleted_at")):
        if deleted_at is not None:
            plan.unable["their document was deleted"] += 1
        elif state not in RETRIED_STATES:
            plan.unable[f"they are {state.replace('_', ' ')}, not a dead letter or failed"] += 1
        else:
            plan.able.append(job_id)
            by_queue[queue] += 1
    _measure_room(plan, by_queue)
    _count_missing(plan, chosen)
    return plan


def _measure_room(plan: Plan, by_queue: Counter[str]) -> None:
    for queue, count in sorted(by_queue.items()):
        room = _free(queue) if len(plan.able) == 1 else replaying.room(queue)
        plan.fitting[queue] = min(count, room)
        if count > room:
            plan.waiting[queue] = count - room
    plan.draining = list(
        QueueState.objects.filter(queue__in=by_queue, is_draining=True).values_list("queue", flat=True)
    )


def _free(queue: str) -> int:
    """Free places of the whole bound: what one job that a person retries may take."""
    depth = QueueState.objects.get(queue=queue)
    return 0 if depth.is_draining else max(0, controlling.bound_of(queue).jobs - depth.jobs)


def cancelling(chosen: Sequence[UUID]) -> Plan:
    """What cancelling these jobs would do now."""
    plan = Plan()
    for job_id, state in Job.objects.filter(id__in=chosen).order_by("sequence").values_list("id", "state"):
        if state == "queued":
            plan.able.append(job_id)
        else:
            plan.unable[f"they are {state.replace('_', ' ')}, no longer queued"] += 1
    _count_missing(plan, chosen)
    return plan


def _count_missing(plan: Plan, chosen: Iterable[UUID]) -> None:
    missing = len(set(chosen)) - len(plan.able) - sum(plan.unable.values())
    if missing > 0:
        plan.unable["they are no longer there"] += missing
