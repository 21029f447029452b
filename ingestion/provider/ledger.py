"""The ledger of calls: `begin` books the intent before a call, `settle` its outcome after, each in one commit.

With the same commit go the reservation and the breaker, so that no crash leaves one without the other. What the
outcome means for the caller is raised here; no HTTP is made.
"""

import logging
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Sum

from ingestion import traces
from ingestion.models import ProviderCall
from ingestion.provider import breaker, prices, statements
from ingestion.provider.errors import NotNow, ProviderError, ProviderFailed, ProviderRefused
from ingestion.provider.verdicts import Ending, Lane

logger = logging.getLogger(__name__)

# A refused reservation is never asked for again sooner: a wait of nothing would be a tight loop.
SHORTEST_WAIT_SECONDS = 0.02
# What needs more than a limit that was cut looks again after this, by then smaller or under a restored limit.
CUT_WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class CallContext:
    """Who calls and what for: questions go before bulk; `step` is a short word of the pipeline."""

    purpose: Literal["question", "bulk"]
    step: str
    job_id: UUID | None = None
    generation: int | None = None


@dataclass(frozen=True)
class Order:
    """A call to be made: `need` in units of its lane (chat: requests, embeddings: tokens)."""

    lane: Lane
    model: str
    need: int
    inputs: int
    context: CallContext


def configured_limit(lane: Lane) -> int:
    """The operator's limit of the lane, in units a minute."""
    limit = settings.CHAT_REQUESTS_PER_MINUTE if lane == "chat" else settings.EMBEDDING_TOKENS_PER_MINUTE
    return int(limit)


def new_request_id(context: CallContext) -> str:
    """An id that names the job, its run and the step, at most 100 visible ASCII characters.

    A question has no job: it names the request. Who reads the provider's records finds our log lines by it.
    """
    step = re.sub(r"[^A-Za-z0-9_.]", "_", context.step)[:24]
    owner = context.job_id or traces.request_id.get()[:64] or "q"
    return f"{owner}-{context.generation or 0}-{step}-{secrets.token_hex(4)}"


def begin(order: Order) -> str:
    """The call is reserved and booked; its client request id. NotNow when quota or breaker do not allow it.

    ProviderRefused when it needs more than the configured minute holds.
    """
    configured = configured_limit(order.lane)
    if order.need > configured:
        raise ProviderRefused(
            f"The request needs {order.need} of the {configured} that a minute of {order.lane} holds."
        )
    identity = new_request_id(order.context)
    parameters = _begin_parameters(order, identity, configured)
    found = statements.rows("begin", parameters)
    if not found:
        statements.rows("prepare", {"lane": order.lane, "configured": configured})
        found = statements.rows("begin", parameters)
    row = found[0]
    if not row["is_granted"]:
        raise _not_now(order, row)
    if row["state"] != "closed" or row["paused_until"]:
        logger.info("provider is probed", extra={"lane": order.lane, "call": identity})
    return identity


def _begin_parameters(order: Order, identity: str, configured: int) -> statements.Row:
    context = order.context
    return {
        "lane": order.lane,
        "configured": configured,
        "need": order.need,
        "is_bulk": context.purpose == "bulk",
        "share": settings.QUESTION_SHARE,
        "pause_seconds": settings.PROVIDER_PAUSE_SECONDS,
        "probe_seconds": breaker.probe_seconds(),
        "client_request_id": identity,
        "job_id": str(context.job_id) if context.job_id else None,
        "generation": context.generation,
        "model": order.model,
        "purpose": context.purpose,
        "step": context.step[:32],
        "inputs": order.inputs,
    }


def _not_now(order: Order, row: statements.Row) -> NotNow:
    now: datetime = row["now"]
    if not row["breaker_allows"]:
        guard = breaker.standing(row)
        return _wait(guard.next_at, now, "provider_outage", guard.reason)
    if not row["lane_allows"]:
        until = max(filter(None, (row["blocked_until"], row["paused_until"])))
        return _wait(until, now, "provider_quota", row["pause_reason"])
    missing = row["floor"] + order.need - row["filled"]
    seconds = CUT_WAIT_SECONDS if order.need > row["capacity"] else missing / row["capacity"] * 60
    until = now + timedelta(seconds=max(SHORTEST_WAIT_SECONDS, seconds))
    return _wait(until, now, "provider_quota", "This minute's quota is used.")


def _wait(until: datetime, now: datetime, reason: Literal["provider_quota", "provider_outage"], detail: str) -> NotNow:
    return NotNow(until, reason, wait_seconds=max(0.0, (until - now).total_seconds()), detail=detail)


def settle(order: Order, identity: str, ending: Ending) -> None:
    """The outcome is booked once; raises what it means for the caller, nothing for a good answer.

    Survives a restart of the database: it is tried again for some seconds.
    """
    found = statements.rows_surely("settle", _settle_parameters(order, identity, ending))
    row = found[0] if found else None
    logger.info(
        "provider called",
        extra={
            "call": identity, "lane": order.lane, "outcome": ending.outcome, "status": ending.status,
            "seconds": round(ending.latency_seconds, 3),
        },
    )  # fmt: skip
    if row:
        _log_changes(order, ending, row)
    if (error := _consequence(order, ending, row)) is not None:
        raise error


def _settle_parameters(order: Order, identity: str, ending: Ending) -> statements.Row:
    usage = ending.usage
    return {
        "lane": order.lane,
        "configured": configured_limit(order.lane),
        "client_request_id": identity,
        "outcome": ending.outcome,
        "status": ending.status,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": prices.cost(order.model, usage.prompt_tokens, usage.completion_tokens),
        "error": ending.detail or ending.pause_reason,
        "give_back": 0 if ending.charged is None else order.need - ending.charged,
        "limit": ending.quota.limit,
        "remaining": ending.quota.remaining,
        "latency_seconds": ending.latency_seconds,
        "block_seconds": ending.block_seconds,
        "pause_reason": ending.pause_reason,
        "pause_seconds": settings.PROVIDER_PAUSE_SECONDS,
        "is_success": ending.outcome == "ok",
        "is_failure": ending.is_failure,
        "breaker_failures": settings.BREAKER_FAILURES,
        "open_seconds": settings.BREAKER_OPEN_SECONDS,
    }


def _consequence(order: Order, ending: Ending, row: statements.Row | None) -> ProviderError | None:
    if ending.outcome in ("ok", "abandoned"):
        return None
    if ending.outcome == "refused":
        return ProviderRefused(ending.detail)
    is_charged = row is None or row["state_before"] == "closed"
    if ending.outcome == "malformed" or (ending.is_failure and is_charged):
        return ProviderFailed(ending.code, ending.detail or "The provider gave no usable answer.")
    # A second settlement returns no row; the first one's waits are in the lane and the breaker all the same.
    row = row or statements.rows("standing", _standing_parameters())[0]
    if ending.is_failure:
        return _wait(breaker.next_look(row), row["now"], "provider_outage", ending.detail)
    until = max(filter(None, (row["blocked_until"], row["paused_until"])), default=row["now"])
    return _wait(until, row["now"], "provider_quota", ending.pause_reason or ending.detail)


def _standing_parameters() -> statements.Row:
    return {"chat": configured_limit("chat"), "embeddings": configured_limit("embeddings")}


def _log_changes(order: Order, ending: Ending, row: statements.Row) -> None:
    if row["opens"]:
        logger.warning("breaker opened", extra={"until": row["open_until"], "reason": ending.detail})
    if row["closes"]:
        logger.info("breaker closed", extra={"lane": order.lane})
    if ending.pause_reason:
        logger.error("provider lane paused", extra={"lane": order.lane, "reason": ending.pause_reason})
    elif ending.outcome == "rate_limited":
        logger.warning("provider limited the rate", extra={"lane": order.lane, "reason": ending.detail})


def cost_of_job(job_id: UUID) -> tuple[int, Decimal]:
    """How many calls were begun for the job, and what the provider charged for them in US dollars."""
    found = ProviderCall.objects.filter(job_id=job_id).aggregate(calls=Count("id"), cost=Sum("cost_usd"))
    return found["calls"], found["cost"] or Decimal(0)
