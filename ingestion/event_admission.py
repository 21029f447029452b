"""The front door for events: each is accepted with its job, or answered with why not; one path for one and for many.

Order of the checks: what is wrong with the event itself, then a replay, then the deadline, then a full queue (without
a lock), then the caller's limit, then the bound, exactly. Locks are taken in one statement (`admit.sql`), depth first.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import transaction

from ingestion import admission, estimates, limits, standing, traces
from ingestion.estimates import Estimate
from ingestion.events import intake
from ingestion.events.envelope import Envelope, invalid
from ingestion.events.intake import Identity, Promise, Raced, Seen, Sight
from ingestion.events.ledger import EVENT_STATES
from ingestion.models import Caller
from ingestion.problems import Problem
from ingestion.queue.controlling import bound_of

log = logging.getLogger("ingestion.admission")

# Each round that is raced means that somebody else's event was committed; more than a few in a row would be a fault.
RACES_MAX = 8


@dataclass(frozen=True)
class Accepted:
    """A committed event and its job; `estimate` is None for a replay, whose wait is what its job says now."""

    event: Envelope
    job_id: UUID
    job_state: str
    estimate: Estimate | None

    @property
    def is_replay(self) -> bool:
        return self.estimate is None

    @property
    def state(self) -> str:
        return EVENT_STATES[self.job_state]


Verdict = Accepted | Problem


@dataclass
class _Round:
    """One look at a list of events, and what became of those that were new to it, by identity."""

    caller: Caller
    sight: Sight
    request_id: str
    verdicts: dict[Identity, Verdict] = field(default_factory=dict)

    def refuse(self, events: Sequence[Envelope], problem: Problem) -> None:
        self.verdicts.update((event.identity, problem) for event in events)


@traces.step("admit")
def admit_events(
    caller: Caller, events: Sequence[Envelope], request_id: str = "", sight: Sight | None = None
) -> list[Verdict]:
    """For each event, in order, what became of it. Of two new ones with one identity the first decides for both.

    `sight`: the first look, where it was made already.
    """
    identities = list(dict.fromkeys(event.identity for event in events))
    for _ in range(RACES_MAX):
        seen, sight = sight or intake.look(caller.pk, identities), None
        try:
            return _admit(_Round(caller, seen, request_id), events)
        except Raced:
            continue
    log.error("admission raced without end", extra={"caller": caller.pk, "events": len(events)})
    raise Problem("unavailable", "The same event is being sent many times at once; try again.", {"Retry-After": "1"})


def _admit(look: _Round, events: Sequence[Envelope]) -> list[Verdict]:
    """The verdicts of the events, in order. Raises Raced."""
    judged = [_judge(look.caller, event, look.sight) for event in events]
    new: dict[Identity, Envelope] = {}
    for event, verdict in zip(events, judged, strict=True):
        if verdict is None:
            new.setdefault(event.identity, event)
    if new and not look.sight.has_place:
        look.refuse(list(new.values()), admission.refusal("events", is_draining=look.sight.is_draining))
    elif new:
        _admit_within_limit(look, list(new.values()))
    return [verdict or _follow(look, event) for event, verdict in zip(events, judged, strict=True)]


def _follow(look: _Round, event: Envelope) -> Verdict:
    """The verdict of a new event, from that of the first with its identity in the list."""
    verdict = look.verdicts[event.identity]
    if isinstance(verdict, Problem) or verdict.event is event:
        return verdict
    if verdict.event.payload_hash != event.payload_hash:
        return _conflict(event)
    return Accepted(event, verdict.job_id, verdict.job_state, estimate=None)


def _judge(caller: Caller, event: Envelope, sight: Sight) -> Verdict | None:
    """What is decided without a place: a foreign producer, a replay, a conflict, an event too late or too large."""
    seen = sight.events[event.identity]
    if seen.owner not in (None, caller.pk):
        return Problem("forbidden", "This producer name belongs to another caller.", field="producer")
    if seen.payload_hash is not None:
        return _known(event, seen)
    if event.expires_at is not None and event.expires_at <= sight.now:
        return invalid("expires_at", "has passed already.")
    bound = bound_of("events")
    if event.units > bound.units or event.bytes > bound.bytes:
        return Problem(
            "too_large",
            f"The event needs {event.units} work units and {event.bytes} bytes; the queue holds at most "
            f"{bound.units} and {bound.bytes}.",
        )
    return None


def _known(event: Envelope, seen: Seen) -> Verdict:
    if seen.payload_hash != event.payload_hash or seen.job_id is None or seen.state is None:
        return _conflict(event)
    return Accepted(event, seen.job_id, seen.state, estimate=None)


def _conflict(event: Envelope) -> Problem:
    return Problem(
        "event_conflict",
        f"The event {event.event_id[:80]!r} of {event.producer[:80]!r} was sent before with another type or payload.",
    )


def _admit_within_limit(look: _Round, new: list[Envelope]) -> None:
    """As many as the caller has tokens for; a token of an event that is not accepted is given back."""
    tokens = limits.take_up_to(look.caller, "events", len(new))
    accepted = 0
    try:
        accepted = _admit_within_share(look, new[:tokens]) if tokens else 0
    finally:
        if accepted < tokens:
            limits.give_back(look.caller, "events", tokens - accepted)
    if tokens < len(new):
        look.refuse(new[tokens:], limits.refusal(look.caller, "events"))


def _admit_within_share(look: _Round, new: list[Envelope]) -> int:
    """As many as the caller's own part of the bound allows; without such a part the bound alone decides."""
    if settings.CALLER_QUEUE_SHARE >= 1:
        return _admit_within_bound(look, new)
    most = max(1, int(bound_of("events").jobs * settings.CALLER_QUEUE_SHARE))
    with transaction.atomic():
        room = max(0, most - intake.live_jobs(look.caller.pk))
        accepted = _admit_within_bound(look, new[:room]) if room else 0
    if room < len(new):
        look.refuse(new[room:], _share_refusal(look.caller, most))
    return accepted


def _share_refusal(caller: Caller, most: int) -> Problem:
    wait = max(1, math.ceil(standing.first_finish_seconds(caller, "events")))
    return Problem(
        "rate_limited",
        f"This caller's unfinished events fill its share of the queue ({most}); a place is expected in {wait} s.",
        {"Retry-After": str(wait)},
    )


def _admit_within_bound(look: _Round, new: list[Envelope]) -> int:
    """The first ones that the bound has places for are saved; the others get the 503 of this moment."""
    places = _foresee(look.sight, new)
    promises = [Promise(one.wait_seconds, one.low_seconds, one.high_seconds, one.jobs_ahead) for one in places]
    jobs = intake.save(look.caller.pk, new, promises, basis=places[0].basis, request_id=look.request_id)
    for event, job_id, place in zip(new, jobs, places, strict=False):
        look.verdicts[event.identity] = Accepted(event, job_id, "queued", place)
    if len(jobs) < len(new):
        look.refuse(new[len(jobs) :], admission.refusal("events", is_draining=standing.depth_of("events").is_draining))
    return len(jobs)


def _foresee(sight: Sight, new: list[Envelope]) -> list[Estimate]:
    """Each event's wait, those of the list before it counted as ahead."""
    pace, allowed = standing.recent_pace("events"), standing.recent_limits("events")
    units_ahead, found = sight.units_ahead, []
    for number, event in enumerate(new):
        found.append(
            estimates.estimate(
                "events",
                pace,
                allowed,
                jobs_ahead=sight.jobs_ahead + number,
                units_ahead=units_ahead,
                units=event.units,
            )
        )
        units_ahead += event.units
    return found
