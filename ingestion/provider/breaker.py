"""What the shared breaker allows. Pure: its row is read and moved by `sql/begin.sql` and `sql/settle.sql`.

closed → open after BREAKER_FAILURES failures in a row → half_open, one probe over all processes → closed, or
open again for twice as long. A failure that finds the breaker not closed is charged to nobody.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings

BreakerState = Literal["closed", "open", "half_open"]

# While a probe is under way its result may come any moment: look again after this.
PROBE_LOOK_SECONDS = 1.0
# Beyond the probe's own deadline: connecting, settling. A prober that is silent for longer is replaced.
PROBE_MARGIN_SECONDS = 5.0


@dataclass(frozen=True)
class Breaker:
    """The breaker as it stands at `now`: whether a call may start, as the one probe, or not before `next_at`."""

    state: BreakerState
    allows: bool
    is_probe: bool
    next_at: datetime
    reason: str


def standing(row: dict[str, Any]) -> Breaker:
    """Reads the breaker's columns of a row of `sql/standing.sql` or `sql/begin.sql`."""
    now, state = row["now"], row["state"]
    if state == "closed":
        return Breaker("closed", True, False, now, "")
    until = row["open_until"] if state == "open" else row["probe_until"]
    is_due = until is None or until <= now
    return Breaker(state, is_due, is_due, now if is_due else _look_at(state, until, now), row["breaker_reason"])


def _look_at(state: BreakerState, until: datetime, now: datetime) -> datetime:
    return until if state == "open" else min(until, now + timedelta(seconds=PROBE_LOOK_SECONDS))


def next_look(row: dict[str, Any]) -> datetime:
    """When a call that met trouble may be tried again: `row` as `sql/settle.sql` returns it."""
    soonest: datetime = row["now"] + timedelta(seconds=PROBE_LOOK_SECONDS)
    return max(row["open_until"] or soonest, soonest)


def probe_seconds() -> float:
    """How long a probe may be silent before another one takes its place."""
    return float(settings.PROVIDER_TIMEOUT_SECONDS) + PROBE_MARGIN_SECONDS
