"""Steady work for a while: how large the tables of the queue become and how many dead rows they hold."""

import time
from typing import Any

from loadtests.bench.product import SETTINGS, ProductRun
from loadtests.charts import Line
from loadtests.installation import installed
from loadtests.percentiles import median
from loadtests.recording import Figure, Found, say, shown

MINUTES, SHORT_MINUTES = 20.0, 1.0
# Well below what a worker does, so that the queue stays short: dead rows come from work, not from a backlog.
PER_SECOND, BATCH = 300, 100
LOOK_SECONDS = 5.0
TABLES = """
SELECT relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid) AS bytes
FROM pg_stat_user_tables WHERE relname = ANY(%s)
"""
WATCHED = ["ingestion_job", "ingestion_queuestate", "ingestion_checkpoint", "ingestion_joboutcome"]


def measure(*, passes: int, short: bool) -> Found:
    """One run, however many passes are asked for: it is long instead."""
    minutes = SHORT_MINUTES if short else MINUTES
    with installed(SETTINGS, workers=0) as stage:
        run = ProductRun(stage, stage.caller("bench", "produce,operate"))
        run.start()
        try:
            looks = _work(run, minutes * 60)
        finally:
            run.stop()
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
    found.rows = {"churn": looks}
    found.figures = figures(looks)
    found.notes = [
        f"One run of {minutes:g} minutes at {PER_SECOND} events a second in batches of {BATCH}, one worker as shipped; "
        "autovacuum as PostgreSQL has it by default. Every finished job is kept: the table grows by its history."
    ]
    return found


def lines(rows: list[dict[str, Any]]) -> list[Line]:
    """Dead rows over the seconds, a curve for each table that has some."""
    names = [name for name in WATCHED if any(row[name]["dead"] for row in rows)]
    return [
        Line(name.removeprefix("ingestion_"), [(row["second"], row[name]["dead"]) for row in rows]) for name in names
    ]


def _work(run: ProductRun, seconds: float) -> list[dict[str, Any]]:
    began, looked, sent = time.monotonic(), 0.0, 0
    looks: list[dict[str, Any]] = []
    while (passed := time.monotonic() - began) < seconds:
        if sent < passed * PER_SECOND:
            run.offer(BATCH)
            sent += BATCH
        else:
            time.sleep(0.01)
        if passed - looked >= LOOK_SECONDS or not looks:
            looked = passed
            looks.append({"second": round(passed, 1), "sent": sent, "left": run.left(), **_tables(run)})
            if len(looks) % 12 == 0:
                say(f"  {passed / 60:.0f} min: {sent} sent, {looks[-1]['left']} waiting")
    return looks


def _tables(run: ProductRun) -> dict[str, Any]:
    return {
        name: {"live": live, "dead": dead, "bytes": size} for name, live, dead, size in run.rows(TABLES, WATCHED)
    }  # fmt: skip


def figures(looks: list[dict[str, Any]]) -> list[Figure]:
    """Sizes at the end, the most dead rows, and whether the small tables have stopped growing after a quarter."""
    last, quarter = looks[-1], looks[len(looks) // 4]
    each = last["ingestion_job"]["bytes"] / max(1, last["sent"])
    found = [
        Figure("events sent", last["sent"], ""),
        Figure("waiting, median of the looks", median([row["left"] for row in looks]), "jobs"),
        Figure("dead rows of the jobs' table, most", max(row["ingestion_job"]["dead"] for row in looks), "rows"),
        Figure("bytes of the jobs' table with its indexes, for each job", each, "bytes"),
    ]
    for name in ("ingestion_queuestate", "ingestion_checkpoint"):
        first, end = quarter[name]["bytes"], last[name]["bytes"]
        how = f"{shown(first / 1024)} KiB after a quarter, {shown(end / 1024)} KiB at the end"
        found.append(Figure(f"{name}: size at the end", end / 1024, "KiB", None, how))
    return found
