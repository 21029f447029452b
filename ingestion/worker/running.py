"""Running one claim: the handler's answer becomes one settlement, whatever happens."""

import logging
import time
from collections.abc import Callable

from django.db import transaction

from ingestion import connections
from ingestion.connections import AWAY
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.queue.kinds import Kind
from ingestion.queue.outcomes import ClaimLost, Done, Outcome, Reject, Rejected, Wait
from ingestion.worker.database import answers

log = logging.getLogger("ingestion.worker")

# A connection that was killed under a job is not the job's fault; a statement that always fails is.
FREE_REPEATS = 3
PAUSE_MAX_SECONDS = 2.0


def run(claim: Claim, kind: Kind, pause: Callable[[float], None] = time.sleep) -> bool:
    """The claim is settled or lost. True: the job has ended. False: it is queued again, or somebody else's."""
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
    """Runs claims of one partition one after the other; behind one that is queued again, the rest is given back."""
    waiting = list(claims)
    try:
        while waiting:
            claim = waiting.pop(0)
            has_ended = run(claim, kind)
            let_go(claim)
            if not has_ended:
                break
    finally:
        for claim in waiting:
            give_back(claim)
            let_go(claim)


def give_back(claim: Claim) -> None:
    """The claim's job is queued again without a spent try, if it is still ours and the database answers."""
    try:
        with connections.brief():
            settling.give_back(claim)
    except ClaimLost:
        pass
    except AWAY as error:
        log.warning("not given back; its lease will end", extra={"job": claim.id, "error": type(error).__name__})
