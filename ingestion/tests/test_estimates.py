"""From pace to promise: pure arithmetic, the measured pace behind it, and what is stored beside each job."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from ingestion import estimates, pace, standing
from ingestion.estimates import Limits
from ingestion.models import Job
from ingestion.pace import Pace
from ingestion.tests.making import Uploader, change_job, make_caller, make_job

NO_PACE = Pace(0, 0.0, 0.0, 0.0, 0.0)
STEADY = Pace(jobs=60, units=6_000.0, busy_seconds=60.0, pressure=10.0, sojourn_seconds=10.0)


def estimated(measured: Pace, ahead: int, units_ahead: float = 0.0, rooms: tuple[float, float] = (0.0, 0.0)) -> float:
    limits = Limits(*estimates.assumed_rates("documents"), *rooms)
    found = estimates.estimate("documents", measured, limits, jobs_ahead=ahead, units_ahead=units_ahead, units=100.0)
    assert found.low_seconds <= found.wait_seconds <= found.high_seconds
    assert found.basis == ("measured" if measured.is_measured else "assumed")
    return found.wait_seconds


def test_a_measured_pace_of_one_a_second_makes_sixty_ahead_a_minute(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 60
    assert estimated(STEADY, 59, 5_900.0) == pytest.approx(60.0)


def test_an_assumed_pace_takes_the_first_limit_of_the_two(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE, settings.EMBEDDING_TOKENS_PER_MINUTE = 60, 6_000
    calls_first, tokens_first = estimated(NO_PACE, 59, 0.0), estimated(NO_PACE, 0, 23_900.0)
    assert calls_first == pytest.approx(60 + estimates.SERVICE_SECONDS)
    assert tokens_first == pytest.approx(120 + estimates.SERVICE_SECONDS)


def test_what_the_providers_buckets_hold_costs_no_wait(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE, settings.EMBEDDING_TOKENS_PER_MINUTE = 100, 100_000
    assert estimated(NO_PACE, 40, 4_000.0, rooms=(80.0, 80_000.0)) == estimates.SERVICE_SECONDS


@given(ahead=st.integers(0, 10_000), more=st.integers(0, 10_000), is_measured=st.booleans())
def test_more_ahead_never_means_sooner(ahead: int, more: int, is_measured: bool) -> None:
    measured = STEADY if is_measured else NO_PACE
    assert estimated(measured, ahead, 100.0 * ahead) <= estimated(measured, ahead + more, 100.0 * (ahead + more))


def test_a_pace_measured_from_full_buckets_does_not_promise_more_than_the_limit_allows(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 30
    assert estimated(STEADY, 59, 5_900.0) == pytest.approx(120.0)


def test_few_finished_jobs_or_an_idle_queue_say_nothing_of_the_pace() -> None:
    assert not Pace(pace.SAMPLE_MIN - 1, 1.0, 1.0, 9.0, 1.0).is_measured
    assert not Pace(100, 1.0, 1.0, pace.PRESSURE_MIN - 0.1, 1.0).is_measured
    assert Pace(pace.SAMPLE_MIN, 1.0, 1.0, pace.PRESSURE_MIN, 1.0).is_measured


def test_a_place_takes_as_long_as_the_pace_says_or_the_first_limit(settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE, settings.EMBEDDING_TOKENS_PER_MINUTE = 100, 100_000
    assert estimates.place_seconds("documents", STEADY) == pytest.approx(1.0)
    # Ten a minute are allowed: a pace of a full bucket does not last for those who wait behind it.
    assert estimates.place_seconds("documents", STEADY, Limits(10, 1e9, jobs_room=50), waiting=60) == pytest.approx(6.0)
    assert estimates.place_seconds("documents", STEADY, Limits(10, 1e9, jobs_room=80), waiting=60) == pytest.approx(1.0)
    assert estimates.place_seconds("documents", NO_PACE) == pytest.approx(
        60 * estimates.TYPICAL_UNITS * estimates.EMBEDDED_PART / 100_000
    )
    settings.EVENT_COMPLETIONS_PER_SECOND = 20.0
    assert estimates.place_seconds("events", NO_PACE) == pytest.approx(0.05)


def test_jitter_only_makes_later_and_by_a_tenth_at_most() -> None:
    assert [estimates.with_jitter(100.0, pick) for pick in (0.0, 0.5, 1.0)] == pytest.approx([100.0, 105.0, 110.0])


def finished(count: int, *, each_seconds: float, ago_seconds: float = 0.0) -> None:
    """`count` jobs that were queued together and finished one after the other, the last `ago_seconds` ago."""
    caller = make_caller()
    end = datetime.now(UTC) - timedelta(seconds=ago_seconds)
    for number in range(count):
        at = end - timedelta(seconds=each_seconds * number)
        Job.objects.create(
            queue="documents", kind="ingest_version", caller=caller, state="succeeded", max_attempts=5, units=10,
            bytes=1, queued_at=end - timedelta(seconds=each_seconds * count), finished_at=at,
        )  # fmt: skip


@pytest.mark.django_db
def test_the_pace_is_what_finished_in_the_time_that_was_busy() -> None:
    finished(20, each_seconds=2.0)
    measured = pace.measure("documents")
    assert measured.is_measured
    assert measured.jobs_per_minute == pytest.approx(30, rel=0.02)
    assert measured.units_per_minute == pytest.approx(300, rel=0.02)


@pytest.mark.django_db
def test_idle_time_between_does_not_slow_the_measured_pace() -> None:
    finished(20, each_seconds=2.0, ago_seconds=60.0)
    assert pace.measure("documents").jobs_per_minute == pytest.approx(30, rel=0.02)


@pytest.mark.django_db
def test_a_pace_that_falls_is_seen_to_fall_while_work_waits() -> None:
    finished(20, each_seconds=1.0, ago_seconds=40.0)
    caller = make_caller("mei")
    long_ago = datetime.now(UTC) - timedelta(seconds=90)
    for state in ("queued", "running"):
        made = make_job(caller)
        change_job(made, state=state, queued_at=long_ago, lease_until=long_ago if state == "running" else None)
    assert pace.measure("documents").jobs_per_minute == pytest.approx(20, rel=0.05)


@pytest.mark.django_db
def test_cancelled_jobs_and_other_queues_are_no_pace() -> None:
    finished(20, each_seconds=2.0)
    Job.objects.update(state="cancelled")
    assert pace.measure("documents") == NO_PACE
    assert pace.measure("events") == NO_PACE


@pytest.mark.django_db
def test_every_estimate_is_kept_beside_its_job(files: object) -> None:
    omar = Uploader()
    for number in range(3):
        accepted = omar.accepted(f"d-{number}")
        made = Job.objects.get(id=accepted["job"]["id"])
        assert made.estimate_seconds is not None
        assert round(made.estimate_seconds) == accepted["estimate"]["wait_seconds"]
        assert (made.estimate_basis, made.jobs_ahead) == ("assumed", number)
        assert made.estimate_low_seconds is not None
        assert made.estimate_high_seconds is not None
        assert made.estimate_low_seconds <= made.estimate_seconds <= made.estimate_high_seconds


@pytest.mark.django_db
def test_an_ended_job_has_nothing_left_to_wait_for() -> None:
    made = Job.objects.get(id=make_job(make_caller()))
    assert standing.foresee_live(made).wait_seconds > 0
    made.state = "succeeded"
    assert standing.foresee_live(made) == estimates.NOTHING_LEFT
