"""Counting what has ended since the last time: called by each scrape and before history is pruned.

One at a time: the mark's row is locked, and who comes second finds everything counted. Rows of transactions that are
still open are left for the next time, so that each row is counted exactly once whatever its commit's order.
"""

import time
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from ingestion.models import TallyMark
from ingestion.tallies import bounds
from ingestion.tallies.sql import statement

# Settlements, and calls, of one transaction: some tenths of a second.
ROWS_A_STEP = 10_000
# A scrape is given up after some seconds; what is missed for a long time is counted over several.
PATIENCE_SECONDS = 2.0
LANES = ["chat", "embeddings"]


def count(patience_seconds: float = PATIENCE_SECONDS) -> int:
    """All that has surely ended is counted, or as much as the patience allows; nothing where another counts.

    Returns how many ids of settlements it passed (one that was undone has an id too).
    """
    passed, until = 0, time.monotonic() + patience_seconds
    while True:
        step, is_done = _count_some()
        passed += step
        if is_done or time.monotonic() > until:
            return passed


@transaction.atomic
def _count_some() -> tuple[int, bool]:
    """How many ids it passed, and whether nothing is left."""
    mark = _lock()
    if mark is None:
        return 0, True
    now, last_outcome, horizon = _look()
    ended = _surely_ended(mark, now, last_outcome, horizon)
    upto = min(ended, mark.outcomes_counted + ROWS_A_STEP)
    step = upto - mark.outcomes_counted
    if step:
        _run("outcomes", after=mark.outcomes_counted, upto=upto, bounds=list(bounds.JOBS))
    before = _count_calls(mark, horizon)
    if mark.outcomes_seen <= upto:
        # The next time this is what was there now.
        mark.outcomes_seen, mark.seen_at = last_outcome, now
    mark.outcomes_counted = upto
    mark.save()
    return step, upto == ended and before == horizon


def _count_calls(mark: TallyMark, horizon: datetime) -> datetime:
    """Some more calls that ended before the horizon are counted; until when."""
    after = mark.calls_counted_until
    if after is not None and after >= horizon:
        return horizon
    place = {"lanes": LANES, "after": after, "before": horizon, "most": ROWS_A_STEP}
    before: datetime = _run("calls_some", **place)[0][0] or horizon
    if after is not None and before <= after:
        # So many at one moment can't be divided.
        before = horizon
    _run("calls", lanes=LANES, after=after, before=before, bounds=list(bounds.CALLS))
    mark.calls_counted_until = before
    return before


def _lock() -> TallyMark | None:
    """The mark, ours until the transaction ends; None while another counts."""
    found = TallyMark.objects.select_for_update(skip_locked=True).first()
    if found is None:
        # Made by the first, not by a migration: a test that empties all tables leaves none.
        TallyMark.objects.bulk_create([TallyMark(id=1)], ignore_conflicts=True)
        found = TallyMark.objects.select_for_update(skip_locked=True).first()
    return found


def _look() -> tuple[datetime, int, datetime]:
    ((now, last_outcome, horizon),) = _run("horizon")
    return now, last_outcome, min(now, horizon)


def _surely_ended(mark: TallyMark, now: datetime, last_outcome: int, horizon: datetime) -> int:
    """The highest id below which every settlement is committed or undone.

    Ids are given before the commit: what was given by a moment is settled once all that had begun by then has ended.
    """
    if horizon >= now:
        return last_outcome
    return max(mark.outcomes_counted, mark.outcomes_seen) if horizon > mark.seen_at else mark.outcomes_counted


def _run(name: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement(name), values)
        return cursor.fetchall() if cursor.description else []
