"""The exercise's flood as arithmetic: a queue with a bound, second by second (pure; nothing is sent).

The live run is compared with it; where the two differ, the record says why. Rates are events a second.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BOUND = 300
COMPLETIONS = 20
BURST = 100
BURST_SECONDS = 10
CALM = 5


@dataclass(frozen=True)
class Second:
    """What has happened until the end of one second: totals, but for `queued`, which is what waits then."""

    offered: int = 0
    completed: int = 0
    queued: int = 0
    rejected: int = 0

    @property
    def accepted(self) -> int:
        return self.offered - self.rejected

    @property
    def is_balanced(self) -> bool:
        return self.offered == self.completed + self.queued + self.rejected


def step(before: Second, arrivals: int, completions: int = COMPLETIONS, bound: int = BOUND) -> Second:
    """The next second: all arrive, the workers finish what they can, and what the bound does not hold is rejected."""
    waiting = before.queued + arrivals
    done = min(completions, waiting)
    left = waiting - done
    return Second(
        offered=before.offered + arrivals,
        completed=before.completed + done,
        queued=min(bound, left),
        rejected=before.rejected + max(0, left - bound),
    )


def run(arrivals: Iterable[int], completions: int = COMPLETIONS, bound: int = BOUND) -> Iterator[Second]:
    """The state after each second of these arrivals, from an empty queue."""
    state = Second()
    for arriving in arrivals:
        state = step(state, arriving, completions, bound)
        yield state


def flood(seconds: int = BURST_SECONDS, rate: int = BURST) -> Second:
    """The state at the end of the burst."""
    *_, last = run([rate] * seconds)
    return last


def drain_seconds(backlog: float, completion_rate: float, new_accepted_rate: float) -> float | None:
    """How long the backlog takes at constant rates; None while it does not shrink."""
    net = completion_rate - new_accepted_rate
    return backlog / net if net > 0 else None


def recovery(calm: int = CALM, most_seconds: int = 3_600) -> list[Second]:
    """The burst and what follows at the calm rate, until the queue holds no more than that brings in a second."""
    states = list(run([BURST] * BURST_SECONDS))
    while states[-1].queued > calm and len(states) < most_seconds:
        states.append(step(states[-1], calm))
    return states
