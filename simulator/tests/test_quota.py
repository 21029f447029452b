"""A quota refills evenly, holds one minute, and says exactly how long to wait."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.quota import Bucket, Lane, duration_text

limits = st.integers(1, 1_000_000)
seconds = st.floats(0, 300)


def lane(requests: int, tokens: int) -> Lane:
    return Lane(Bucket.full(requests, 0.0), Bucket.full(tokens, 0.0))


def test_it_takes_one_minutes_limit_at_once_and_refuses_the_next() -> None:
    chat = lane(100, 1_000_000)
    assert [chat.charge(1, 0.0) for _ in range(100)] == [None] * 100
    refusal = chat.charge(1, 0.0)
    assert refusal is not None
    assert (refusal.unit, refusal.limit, refusal.used, refusal.requested) == ("requests", 100, 100, 1)
    assert refusal.wait_seconds == pytest.approx(0.6)


def test_it_names_the_wait_by_the_formula_of_the_real_api() -> None:
    vectors = lane(1000, 100_000)
    assert vectors.charge(80_000, 0.0) is None
    refusal = vectors.charge(50_000, 0.0)
    assert refusal is not None
    assert refusal.wait_seconds == pytest.approx((80_000 + 50_000 - 100_000) / 100_000 * 60)


@given(limit=limits, first=st.integers(1, 1_000_000), second=st.integers(1, 1_000_000))
def test_it_takes_a_request_that_waited_exactly_as_told(limit: int, first: int, second: int) -> None:
    vectors = lane(1000, limit)
    vectors.charge(min(first, limit), 0.0)
    refusal = vectors.charge(min(second, limit), 0.0)
    if refusal is not None:
        assert refusal.wait_seconds is not None
        assert vectors.charge(min(second, limit), refusal.wait_seconds) is None


@given(limit=limits, calls=st.lists(st.tuples(seconds, st.integers(1, 2_000_000)), max_size=30))
def test_it_never_grants_more_than_the_limit_and_its_refill(limit: int, calls: list[tuple[float, int]]) -> None:
    vectors = lane(10_000, limit)
    now = granted = 0.0
    for pause, tokens in calls:
        now += pause
        granted += tokens if vectors.charge(tokens, now) is None else 0
        assert granted <= limit * (1 + now / 60) * (1 + 1e-9) + 1e-3


@given(used=st.integers(0, 1000), asked=st.integers(1, 5000))
def test_a_refused_request_consumes_nothing(used: int, asked: int) -> None:
    vectors = lane(100, 1000)
    vectors.charge(used, 0.0)
    before = (vectors.requests.level, vectors.tokens.level)
    if vectors.charge(asked, 0.0) is not None:
        assert (vectors.requests.level, vectors.tokens.level) == before


def test_a_request_above_the_limit_has_no_wait_that_helps() -> None:
    refusal = lane(10, 1000).charge(1001, 0.0)
    assert refusal is not None
    assert refusal.wait_seconds is None


def test_a_smaller_limit_clips_what_was_free_and_a_larger_one_gives_nothing_away() -> None:
    bucket = Bucket.full(100, 0.0)
    bucket.resize(10, 0.0)
    assert bucket.level == 10
    bucket.resize(100, 0.0)
    assert bucket.level == 10
    bucket.refill(54.0)
    assert bucket.level == pytest.approx(100)


def test_a_clock_that_stands_still_or_steps_back_refills_nothing() -> None:
    bucket = Bucket.full(60, 10.0)
    bucket.take(60)
    bucket.refill(10.0)
    bucket.refill(5.0)
    assert bucket.level == 0
    bucket.refill(11.0)
    assert bucket.level == pytest.approx(1)


def test_its_headers_say_the_time_to_a_full_bucket() -> None:
    chat = lane(100, 1000)
    chat.charge(500, 0.0)
    assert chat.headers(0.0) == {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "99",
        "x-ratelimit-reset-requests": "600ms",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "500",
        "x-ratelimit-reset-tokens": "30s",
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.12, "120ms"), (1, "1s"), (1.2, "1.2s"), (59.9999, "1m0s"), (360, "6m0s"), (72.45, "1m12.45s")],
)
def test_it_writes_durations_as_the_real_api_does(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
