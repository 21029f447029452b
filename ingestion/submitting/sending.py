"""What is sent with `client`: the policies that come with the project, and later editions of them."""

import hashlib
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ingestion.corpus import corpus_documents
from ingestion.submitting.client import Accepted, Client, Parcel

LOOK_SECONDS = 1.0
# Jobs asked for in one look: enough to see progress, few enough not to disturb it.
JOBS_A_LOOK = 12
# Without progress for so long, a missing worker is the likeliest reason.
SILENCE_SECONDS = 15.0
NO_WORKER = "no worker runs; start one with manage.py runworker"


class Shown(Protocol):
    """What a person sees."""

    def show(self, done: int, note: str = "") -> None: ...


@dataclass
class Sent:
    """What became of the parcels. `failures` maps a slug to what its job says."""

    accepted: list[Accepted] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def refused_first(self) -> int:
        """How many were accepted after a refusal."""
        return sum(1 for one in self.accepted if one.refusals)

    @property
    def replayed(self) -> int:
        return sum(1 for one in self.accepted if one.is_replay)


def send(client: Client, parcels: Iterable[Parcel], shown: Shown) -> Sent:
    """Each parcel is accepted, one after the other."""
    sent = Sent()
    for parcel in parcels:
        shown.show(len(sent.accepted), parcel.slug)
        sent.accepted.append(client.submit(parcel))
    shown.show(len(sent.accepted))
    return sent


@dataclass(frozen=True)
class Missing:
    """Policies to send, and the jobs of those that were sent before and still wait."""

    parcels: list[Parcel]
    waiting: dict[str, str]
    published: int


def missing_policies(client: Client) -> Missing:
    """Which of the project's policies are not published as they are: compared by the hash of the newest version."""
    parcels, waiting, published = [], {}, 0
    # A key of this run: a delivery sent twice is one, and a policy that was deleted can be loaded again.
    run = uuid.uuid4().hex
    for slug, text in corpus_documents().items():
        content = text.encode()
        newest = client.newest(slug)
        if newest is None or newest.sha256 != hashlib.sha256(content).hexdigest():
            parcels.append(Parcel(slug, content, f"loadcorpus-{run}-{slug}"))
        elif newest.job_id is not None:
            waiting[slug] = newest.job_id
        else:
            published += 1
    return Missing(parcels, waiting, published)


def await_published(
    client: Client,
    jobs: dict[str, str],
    shown: Shown,
    published: int = 0,
    ended: Callable[[str, str | None], None] = lambda slug, reason: None,
) -> dict[str, str]:
    """The jobs (slug to id) have ended; slug to reason for each that did not succeed.

    `ended` hears of each when it has: its slug, and the reason or None.
    """
    waiting = deque(jobs.items())
    failures: dict[str, str] = {}
    changed_at = time.monotonic()
    note = ""
    while waiting:
        for slug, job_id in [waiting.popleft() for _ in range(min(JOBS_A_LOOK, len(waiting)))]:
            job = client.job(job_id)
            if job["finished_at"] is None:
                waiting.append((slug, job_id))
                continue
            changed_at, note = time.monotonic(), ""
            reason = None if job["state"] == "succeeded" else _reason(job)
            published += reason is None
            if reason is not None:
                failures[slug] = reason
            ended(slug, reason)
        shown.show(published, note)
        if waiting:
            if time.monotonic() - changed_at > SILENCE_SECONDS:
                note = NO_WORKER if client.workers("documents") == 0 else "waiting"
                changed_at = time.monotonic()
            time.sleep(LOOK_SECONDS)
    return failures


def _reason(job: dict[str, object]) -> str:
    error = job.get("error")
    said = f": {error.get('detail') or error.get('code')}" if isinstance(error, dict) else ""
    return f"job {job['id']} {job['state']}{said}"
