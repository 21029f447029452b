"""Claims while a transaction elsewhere keeps an old snapshot open, in turns with claims without one."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from loadtests.bench.product import SETTINGS, JobRun
from loadtests.bench.turns import Series, ratio_of
from loadtests.bench.working import rate, warm
from loadtests.installation import installed
from loadtests.recording import Figure, Found, say, shown

SECONDS, SHORT_SECONDS = 10.0, 3.0


def measure(*, passes: int, short: bool) -> Found:
    """Paces of one worker with and without the old snapshot."""
    with installed(SETTINGS, workers=0) as stage:
        run = JobRun(stage, stage.caller("bench", "produce,operate"))
        count, _ = warm(run, SHORT_SECONDS if short else SECONDS)
        free, held = Series([]), Series([])
        for number in range(passes):
            free.passes.append(rate(run, count))
            with open_snapshot(run.database):
                held.passes.append(rate(run, count))
            say(f"  pass {number + 1}  {shown(free.passes[-1])}/s, under a snapshot {shown(held.passes[-1])}/s")
        run.take_away()
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
    how = f"{shown(held.median)} / {shown(free.median)}; the dead rows of {count} jobs can't be removed meanwhile"
    found.figures = [
        Figure("no-op jobs, one worker", free.median, "/s"),
        Figure("no-op jobs under an open snapshot elsewhere", held.median, "/s"),
        Figure("under an open snapshot over without", ratio_of(held, free), "×", None, how),
    ]
    found.facts["tables"] = {
        "Jobs a second": [{"what": "free", **free.as_json()}, {"what": "under a snapshot", **held.as_json()}]
    }
    return found


@contextmanager
def open_snapshot(database: str) -> Iterator[None]:
    """A transaction that sees the tables as they were, for as long as the block lasts."""
    with psycopg.connect(database) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT count(*) FROM ingestion_queuestate")
        yield
        reader.rollback()
