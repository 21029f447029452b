"""Many requests of one caller meet its limit: exactly as many pass as it has."""

from collections import Counter
from threading import Barrier

import pytest
from limits import RateLimitItemPerMinute
from pytest_django import Settings

from ingestion import limits
from ingestion.tests.making import Uploader, depth, live_depth, make_caller, make_job, tokens_used
from ingestion.tests.races.meeting import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

RACERS = 16
UNGUARDED = 4


def test_exactly_as_many_pass_as_the_limit_allows() -> None:
    omar = Uploader(uploads_per_minute=5)
    found = at_once(RACERS, lambda number: omar.upload(f"d-{number}").status_code)
    assert Counter(found) == {202: 5, 429: RACERS - 5}
    assert tokens_used(omar.caller) == 5
    assert depth() == live_depth()
    Uploader("mei").accepted()


def test_tokens_of_requests_that_the_bound_refused_come_back_under_load(settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 3
    omar = Uploader(uploads_per_minute=100)
    make_job(omar.caller)
    found = at_once(RACERS, lambda number: omar.upload(f"d-{number}").status_code)
    assert Counter(found) == {202: 2, 503: RACERS - 2}
    assert tokens_used(omar.caller) == 2


def test_without_the_atomic_window_more_pass() -> None:
    """The control: reading how many are left first and taking one afterwards lets too many through."""
    mei = make_caller("mei", uploads_per_minute=1)
    read = Barrier(UNGUARDED)

    def take_unguarded(_: int) -> bool:
        is_free = tokens_used(mei) < 1
        read.wait(timeout=20)
        limits._ask("hit", RateLimitItemPerMinute(9), "uploads", str(mei.pk))
        return is_free

    assert sum(at_once(UNGUARDED, take_unguarded)) > 1


def test_one_callers_share_is_exact_under_load(settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 10
    settings.CALLER_QUEUE_SHARE = 0.3
    omar = Uploader()
    found = at_once(RACERS, lambda number: omar.upload(f"d-{number}").status_code)
    assert Counter(found) == {202: 3, 429: RACERS - 3}
    assert depth() == live_depth()
