"""The provider's errors as the assistant's answers: what a caller reads when no answer can be made now."""

import logging
import math
from collections.abc import Callable
from typing import TypeVar

from ingestion.problems import Problem
from ingestion.provider.errors import NotNow, ProviderError, ProviderFailed, ProviderRefused

log = logging.getLogger("assistant")

# After a single failed call the next may succeed; a refused one needs a person first.
FAILED_RETRY_SECONDS = 5
REFUSED_RETRY_SECONDS = 60
LONGEST_RETRY_SECONDS = 3_600
REASONS = {
    "provider_quota": "The provider's quota is used up for the moment.",
    "provider_outage": "The provider does not work at the moment.",
}

Reply = TypeVar("Reply")


def twice(call: Callable[[], Reply]) -> Reply:
    """The call's reply; a person waits for it, so one failed try is followed by a second at once."""
    try:
        return call()
    except ProviderFailed as error:
        if not is_worth_a_second_try(error):
            raise
    return call()


def is_worth_a_second_try(error: ProviderFailed) -> bool:
    """Not after a timeout: whoever waited that long is told."""
    log.warning("a provider call for a question failed", extra={"code": error.code})
    return error.code != "provider_timeout"


def as_problem(error: ProviderError) -> Problem:
    """A 503 with the seconds after which asking again is worth it."""
    match error:
        case NotNow():
            seconds = min(max(math.ceil(error.wait_seconds), 1), LONGEST_RETRY_SECONDS)
            detail = REASONS.get(error.reason, "The provider can't be asked at the moment.")
        case ProviderRefused():
            log.error("the provider refused a question", extra={"code": error.code, "detail": error.detail})
            seconds, detail = REFUSED_RETRY_SECONDS, "The provider does not accept this request."
        case _:
            log.warning("a question got no answer", extra={"code": error.code, "detail": error.detail})
            seconds, detail = FAILED_RETRY_SECONDS, "The provider failed to answer."
    return Problem("provider_unavailable", f"{detail} Ask again in {seconds} s.", {"Retry-After": str(seconds)})
