"""The exercise's four totals, its drain times, and that no second of the model loses an event."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.flood_model import BOUND, Second, drain_seconds, flood, recovery, run


def test_the_burst_has_the_four_totals_of_the_exercise() -> None:
    end = flood()
    assert (end.offered, end.completed, end.queued, end.rejected) == (1000, 200, 300, 500)


def test_without_a_bound_eight_hundred_would_wait() -> None:
    *_, end = run([100] * 10, bound=10**9)
    assert (end.queued, end.rejected) == (800, 0)


@given(st.lists(st.integers(0, 500), max_size=60), st.integers(0, 200), st.integers(1, 400))
def test_every_second_balances_and_keeps_the_bound(arrivals: list[int], completions: int, bound: int) -> None:
    before = Second()
    for state in run(arrivals, completions, bound):
        assert state.is_balanced
        assert state.accepted == state.completed + state.queued
        assert 0 <= state.queued <= bound
        assert state.completed - before.completed <= completions
        before = state


@pytest.mark.parametrize(
    "backlog, completion, arrival, seconds", [(300, 20, 5, 20), (30_000, 500, 400, 300), (300, 20, 0, 15)]
)
def test_the_drain_is_the_backlog_over_the_net_rate(backlog: int, completion: int, arrival: int, seconds: int) -> None:
    assert drain_seconds(backlog, completion, arrival) == seconds


@pytest.mark.parametrize("completion, arrival", [(500, 600), (20, 20), (0, 0)])
def test_a_backlog_that_does_not_shrink_has_no_drain_time(completion: int, arrival: int) -> None:
    assert drain_seconds(30_000, completion, arrival) is None


def test_the_recovery_takes_the_ideal_twenty_seconds_and_rejects_nothing_more() -> None:
    states = recovery()
    burst, after = states[:10], states[10:]
    assert burst[-1].queued == BOUND
    assert len(after) == 20
    assert {state.rejected for state in after} == {500}
    assert after[-1].queued == 0
