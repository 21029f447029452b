"""Running one claim: the handler's answer becomes one settlement, whatever happens."""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.db import transaction

from ingestion import connections, traces
from ingestion.connections import AWAY
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.kinds import Kind, Together
from ingestion.queue.outcomes import ClaimLost, Done, Outcome, Reject, Rejected, Wait
from ingestion.worker.database import answers

log = logging.getLogger("ingestion.worker")

# A connection that was killed under a job is not the job's fault; a statement that always fails is.
FREE_REPEATS = 3
PAUSE_MAX_SECONDS = 2.0
# Claims that one transaction settles: at a tenth of a millisecond each, nobody waits long for its locks.
TOGETHER_MAX = 200


def run(claim: Claim, kind: Kind, pause: Callable[[float], None] = time.sleep) -> bool:
    """The claim is settled or lost. True: the job has ended. False: it is queued again, or somebody else's."""
    with traces.working_on(claim.id, claim.request_id, kind=claim.kind, attempt=claim.attempt):
        return _run(claim, kind, pause)


def _run(claim: Claim, kind: Kind, pause: Callable[[float], None]) -> bool:
    repeats, failure = 0, None
    while True:
        try:
            return _run_once(claim, kind) if failure is None else _settle_failure(claim, kind, failure)
        except ClaimLost as lost:
            log.warning("work dropped: %s", lost, extra={"job": claim.id})
            return False
        except AWAY as error:
            connections.release()
            if claim.lost.is_set():
                return False
            if not answers():
                pause(min(PAUSE_MAX_SECONDS, 0.1 * 2 ** min(repeats, 6)))
            elif repeats >= FREE_REPEATS:
                failure = error
            repeats += 1
        finally:
            connections.release()


def _run_once(claim: Claim, kind: Kind) -> bool:
    try:
        return _settle(claim, kind, kind.handler(claim))
    except (ClaimLost, *AWAY):
        raise
    except Rejected as rejected:
        return _settle(claim, kind, Reject(rejected.code, rejected.detail))
    except Exception as error:
        return _settle_failure(claim, kind, error)


def _settle(claim: Claim, kind: Kind, outcome: Outcome) -> bool:
    match outcome:
        case Done(effect):
            with transaction.atomic():
                effect()
                settling.finish(claim, "succeeded")
            # A line for each event would cost more than applying it.
            level = logging.DEBUG if claim.queue == "events" else logging.INFO
            log.log(level, "job succeeded", extra={"job": claim.id, "attempt": claim.attempt})
            return True
        case Wait(until, reason, lane):
            settling.wait(claim, until, reason, lane)
            return False
        case Reject(code, detail):
            settling.finish(claim, kind.rejected_state, code=code, detail=detail)
            log.warning("job rejected", extra={"job": claim.id, "code": code})
            return True


def _settle_failure(claim: Claim, kind: Kind, error: Exception) -> bool:
    """A charged try has failed: backoff, or a dead letter when the budget is spent."""
    code = getattr(error, "code", None)
    word = code if isinstance(code, str) and code else type(error).__name__
    if isinstance(code, str):
        log.warning("try failed", extra={"job": claim.id, "attempt": claim.attempt, "code": word})
    else:
        log.exception("try failed", exc_info=error, extra={"job": claim.id, "attempt": claim.attempt})
    settling.retry_or_bury(claim, word, str(error))
    return claim.attempt >= claim.max_attempts


def run_in_order(claims: list[Claim], kind: Kind, let_go: Callable[[Claim], None]) -> None:
    """Runs the claims in their order; behind one that is queued again, the rest of its partition is given back.

    Where the kind knows how, many are run and settled in one transaction (`together`).
    """
    course = _Course(kind, let_go)
    try:
        for start in range(0, len(claims), TOGETHER_MAX):
            course.settle(claims[start : start + TOGETHER_MAX])
    finally:
        course.give_back([claim for claim in claims if claim.key not in course.seen])


class _Course:
    """The claims of one thread on their way: which it has `seen` to, and which partitions are held up."""

    def __init__(self, kind: Kind, let_go: Callable[[Claim], None]) -> None:
        self._kind, self._let_go = kind, let_go
        self.seen: set[tuple[UUID, int]] = set()
        self._held_up: set[str | None] = set()

    def settle(self, part: list[Claim]) -> None:
        """All of the part at once; where that fails, its halves in order, at last each claim by itself."""
        self.give_back([claim for claim in part if claim.partition in self._held_up])
        part = [claim for claim in part if claim.key not in self.seen]
        together = self._kind.together
        if len(part) == 1:
            self._settle_alone(part[0])
        elif together is not None and part and finish_together(part, together):
            self._note(part)
        elif part:
            middle = len(part) // 2
            self.settle(part[:middle])
            self.settle(part[middle:])

    def _settle_alone(self, claim: Claim) -> None:
        # Noted first: what a fault leaves unsettled here ends with its lease.
        self.seen.add(claim.key)
        if not run(claim, self._kind):
            self._held_up.add(claim.partition)
        self._let_go(claim)

    def _note(self, part: list[Claim]) -> None:
        for claim in part:
            self.seen.add(claim.key)
            self._let_go(claim)

    def give_back(self, claims: list[Claim]) -> None:
        """The claims are queued again, and no longer this thread's."""
        give_back(claims)
        self._note(claims)


def finish_together(part: list[Claim], effect: Together) -> bool:
    """The effects of all and their settlements are committed. False: nothing of them is, whatever the reason."""
    try:
        with transaction.atomic():
            effect(part)
            settling.finish_together(part)
    except (ClaimLost, Rejected) as error:
        log.info("not settled together: %s", error, extra={"claims": len(part)})
        return False
    except Exception as error:
        log.warning("not settled together", extra={"claims": len(part), "error": f"{type(error).__name__}: {error}"})
        return False
    finally:
        connections.release()
    return True


def give_back(claims: list[Claim]) -> None:
    """The claims' jobs are queued again without a spent try, if they are still ours and the database answers."""
    if not claims:
        return
    try:
        with connections.brief():
            settling.give_back_together(claims)
    except AWAY as error:
        log.warning(
            "not given back; their leases will end", extra={"claims": len(claims), "error": type(error).__name__}
        )
