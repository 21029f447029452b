"""Settling: what a claim ends in, each write fenced by id, generation and `running`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from ingestion import connections
from ingestion.queue.backoff import delay_seconds
from ingestion.queue.claims import Claim
from ingestion.queue.outcomes import ClaimLost
from ingestion.queue.sql import statement
from ingestion.queue.storable import storable

DETAIL_MAX = 2_000
CODE_MAX = 64


def _settle(name: str, claim: Claim, **values: Any) -> None:
    """Runs one fenced statement; raises ClaimLost where it touched nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statement(name), {"id": claim.id, "generation": claim.generation, **values})
        if cursor.fetchone() is None:
            claim.lost.set()
            raise ClaimLost(f"{claim.kind} {claim.id} is no longer ours under generation {claim.generation}")


def finish(claim: Claim, state: str, *, code: str = "", detail: str = "") -> None:
    """The job has ended in `state` and its place in the bound is free."""
    words = {"error_code": storable(code, CODE_MAX), "error_detail": storable(detail, DETAIL_MAX)}
    _settle("finish", claim, state=state, **words)


def _requeue(claim: Claim, outcome: str, **values: Any) -> None:
    row: dict[str, Any] = {
        "until": None, "delay_seconds": 0.0, "waiting_for": None, "lane": None, "error_code": "", "error_detail": "",
    }  # fmt: skip
    _settle("requeue", claim, outcome=outcome, **{**row, **values})


def wait(claim: Claim, until: datetime, reason: str, lane: str) -> None:
    """The job is queued until `until`; its try is returned."""
    _requeue(claim, "wait", refund=1, until=until, waiting_for=reason, lane=lane)


def give_back(claim: Claim) -> None:
    """The job is queued at once; its try is returned (drain, or a database that was away)."""
    _requeue(claim, "give_back", refund=1)


def _pairs(claims: Sequence[Claim]) -> dict[str, Any]:
    return {"ids": [claim.id for claim in claims], "generations": [claim.generation for claim in claims]}


def finish_together(claims: Sequence[Claim]) -> None:
    """All of the jobs have succeeded and their places are free. Raises ClaimLost where one claim is lost.

    Call it inside a transaction, which is undone then: the others are not finished either.
    """
    settled = {row[0] for row in connections.prepared(statement("finish_together"), _pairs(claims))}
    if lost := [claim for claim in claims if claim.id not in settled]:
        raise ClaimLost(f"{len(lost)} of {len(claims)} claims are no longer ours, {lost[0].id} first")


def give_back_together(claims: Sequence[Claim]) -> None:
    """Those of the jobs that are still ours are queued at once, their tries returned; the others are left alone."""
    connections.prepared(statement("give_back_together"), _pairs(claims))


def retry_or_bury(claim: Claim, code: str, detail: str, *, dead_state: str = "dead_letter") -> None:
    """A charged try has failed: queued by backoff while the budget lasts, else a dead letter."""
    if claim.attempt >= claim.max_attempts:
        finish(claim, dead_state, code=code, detail=detail)
        return
    delay = delay_seconds(claim.attempt, base=settings.BACKOFF_BASE_SECONDS, most=settings.BACKOFF_MAX_SECONDS)
    _requeue(
        claim, "retry", refund=0, delay_seconds=delay, waiting_for="backoff",
        error_code=storable(code, CODE_MAX), error_detail=storable(detail, DETAIL_MAX),
    )  # fmt: skip


def fence(claim: Claim, *, done: int, total: int, lane: str | None = None) -> None:
    """Inside a transaction: the claim is ours until it ends, and the job's progress is `done` of `total`."""
    _settle("fence", claim, done=done, total=total, lane=lane)


def extend(claims: list[Claim]) -> set[tuple[UUID, int]]:
    """The keys of those claims that are still ours; their leases start anew."""
    if not claims:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            statement("extend"),
            {
                "ids": [claim.id for claim in claims],
                "generations": [claim.generation for claim in claims],
                "lease_seconds": settings.LEASE_SECONDS,
            },
        )
        kept = {row[0] for row in cursor.fetchall()}
    return {claim.key for claim in claims if claim.id in kept}
