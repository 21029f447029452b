"""How fast a worker empties a queue: filled first, looked at from outside, its start not counted."""

import time

from loadtests.bench.contestant import Contestant
from loadtests.bench.turns import Look, pace

# What a start and a slow contestant may take before a pass is a failure.
PATIENCE_SECONDS = 120.0


def rate(contestant: Contestant, count: int, *, seconds: float = PATIENCE_SECONDS) -> float:
    """Jobs a second over `count` new jobs, or over what a worker does of them in `seconds`; nothing runs afterwards."""
    contestant.fill(count)
    contestant.start()
    try:
        looks = watch(contestant, seconds)
    finally:
        contestant.stop()
    moments = sorted(contestant.moments(count))
    return pace([(moment, count - place) for place, moment in enumerate(moments)] if moments else looks)


def watch(contestant: Contestant, seconds: float, *, until_left: int = 0) -> list[Look]:
    """(seconds, jobs left) until that many are left; with fewer seconds only once a worker has begun."""
    looks: list[Look] = []
    most, began = contestant.left(), time.monotonic()
    deadline = began + PATIENCE_SECONDS
    while not looks or looks[-1][1] > until_left:
        now = time.monotonic()
        looks.append((now, contestant.left()))
        if looks[-1][1] >= most:
            # Its start is no part of the pass.
            began = now
            if last := contestant.fallen():
                raise RuntimeError(f"a worker of {contestant.name} has ended:\n{last}")
        elif now - began > seconds:
            break
        if now > deadline:
            raise RuntimeError(f"{contestant.name}: {looks[-1][1]} of {most} jobs left after {PATIENCE_SECONDS:g} s")
        time.sleep(contestant.look_seconds)
    return looks


def warm(contestant: Contestant, seconds: float) -> tuple[int, dict[str, float]]:
    """The jobs that keep it busy for `seconds`, and the paces of its variants, of which it now has the fastest."""
    paces: dict[str, float] = {}
    for variant in contestant.variants:
        contestant.choose(variant)
        paces[variant] = rate(contestant, contestant.guess)
    best = max(paces, key=lambda variant: paces[variant])
    contestant.choose(best)
    known = paces[best] if paces[best] > 0 else contestant.guess
    return max(200, round(known * seconds)), paces
