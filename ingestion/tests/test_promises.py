"""Promised places: each refused caller has a moment of its own, also when many are refused at once."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingestion import promises

QUEUE, PLACE, MOST = "promises-test", 2.0, 900.0


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    promises.forget(QUEUE)
    yield
    promises.forget(QUEUE)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time as the module sees it; it moves only when a test says so."""
    now = [time.time()]
    monkeypatch.setattr("ingestion.promises.time.time", lambda: now[0])
    return now


def ask() -> float:
    return promises.next_place(QUEUE, PLACE, MOST)


def test_refusals_at_one_moment_are_promised_one_place_after_the_other(clock: list[float]) -> None:
    assert [ask() for _ in range(40)] == pytest.approx([PLACE * (number + 1) for number in range(40)], abs=0.01)


def test_refusals_far_apart_take_no_place_that_nobody_asked_for(clock: list[float]) -> None:
    waits = []
    for _ in range(5):
        waits.append(ask())
        clock[0] += promises.TOGETHER_SECONDS
    step = PLACE - promises.TOGETHER_SECONDS
    assert waits == pytest.approx([PLACE + step * number for number in range(5)], abs=0.01)


def test_a_burst_asks_valkey_less_often_than_it_refuses(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[float] = []
    real = promises._take

    def take(queue: str, now: float, seconds: float, most: float) -> float:
        questions.append(seconds)
        return real(queue, now, seconds, most)

    monkeypatch.setattr(promises, "_take", take)
    for _ in range(100):
        ask()
    assert len(questions) < 12
    assert max(questions) == PLACE * promises.TOGETHER_MOST


def test_no_promise_goes_beyond_the_most(clock: list[float]) -> None:
    assert max(ask() for _ in range(1_000)) <= MOST


def test_two_threads_are_never_promised_the_same_moment(clock: list[float]) -> None:
    together = threading.Barrier(8)

    def some(_: int) -> list[float]:
        together.wait(timeout=20)
        return [round(ask(), 3) for _ in range(20)]

    with ThreadPoolExecutor(8) as threads:
        promised = [wait for found in threads.map(some, range(8)) for wait in found]
    assert len(set(promised)) == len(promised)
