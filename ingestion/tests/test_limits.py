"""A caller's minute: N at once are fine, the next is 429 and told when; other callers and refusals cost nothing."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from ingestion import limits, promises
from ingestion.problems import Problem
from ingestion.tests.making import Uploader, make_caller, problem, tokens_used

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]

DEAD = "redis://127.0.0.1:9/0"


@pytest.fixture
def omar() -> Uploader:
    return Uploader(uploads_per_minute=3)


@pytest.fixture
def without_valkey(omar: Uploader, settings: Settings) -> Iterator[None]:
    """From now on nothing answers where Valkey should be."""
    settings.VALKEY_URL = DEAD
    _forget_clients()
    yield
    _forget_clients()


def _forget_clients() -> None:
    for client in (limits._shared, limits._own, promises.valkey, promises._script):
        client.cache_clear()


def test_as_many_as_the_limit_pass_at_once_and_the_next_is_told_when_to_come(omar: Uploader) -> None:
    for number in range(3):
        omar.accepted(f"d-{number}")
    refused = omar.upload("one-more")
    problem(refused, 429, "rate_limited")
    assert refused["RateLimit-Policy"] == '"uploads";q=3;w=60'
    wait = int(refused["Retry-After"])
    assert refused["RateLimit"] == f'"uploads";r=0;t={wait}'
    assert 1 <= wait <= 60


def test_a_refused_request_prolongs_nothing() -> None:
    omar = Uploader(uploads_per_minute=1)
    omar.accepted()
    waits = [int(omar.upload()["Retry-After"]) for _ in range(3)]
    assert waits == sorted(waits, reverse=True)
    assert tokens_used(omar.caller) == 1


def test_other_callers_and_other_subjects_are_not_touched() -> None:
    omar = Uploader(uploads_per_minute=1)
    omar.accepted("a")
    problem(omar.upload("b"), 429, "rate_limited")
    Uploader("mei").accepted("b")
    limits.take(omar.caller, "questions")


def test_the_callers_own_limit_goes_before_the_common_one(settings: Settings) -> None:
    settings.UPLOADS_PER_MINUTE = 1
    assert limits.limit_of(make_caller("omar"), "uploads") == 1
    mei = make_caller("mei", uploads_per_minute=7)
    assert limits.limit_of(mei, "uploads") == 7
    assert limits.limit_of(mei, "events") == settings.EVENTS_PER_MINUTE


def test_as_many_as_are_left_are_taken_and_no_more(settings: Settings) -> None:
    mei = make_caller("mei", uploads_per_minute=10)
    assert [limits.take_up_to(mei, "uploads", wanted) for wanted in (4, 4, 4, 4)] == [4, 4, 2, 0]
    assert limits.take_up_to(mei, "uploads", 0) == 0


def test_all_or_none_are_taken_where_a_part_is_of_no_use() -> None:
    mei = make_caller("mei", uploads_per_minute=3)
    with pytest.raises(Problem, match="rate_limited"):
        limits.take(mei, "uploads", 4)
    limits.take(mei, "uploads", 2)
    with pytest.raises(Problem, match="rate_limited"):
        limits.take(mei, "uploads", 2)
    assert tokens_used(mei) == 2


def test_tokens_given_back_can_be_taken_again() -> None:
    mei = make_caller("mei", uploads_per_minute=3)
    limits.take(mei, "uploads", 3)
    limits.give_back(mei, "uploads", 2)
    assert tokens_used(mei) == 1
    assert limits.take_up_to(mei, "uploads", 3) == 2


@pytest.mark.usefixtures("without_valkey")
def test_without_valkey_limits_hold_for_the_process_and_uploads_go_on(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 2
    omar.accepted("a")
    omar.accepted("b")
    refused = omar.upload("c")
    problem(refused, 503, "queue_full")
    assert int(refused["Retry-After"]) >= 1
    assert tokens_used(omar.caller) == 2
    settings.DOCUMENTS_QUEUE_MAX = 9
    omar.accepted("c")
    problem(omar.upload("d"), 429, "rate_limited")
    limits.give_back(omar.caller, "uploads", 1)
    omar.accepted("d")
