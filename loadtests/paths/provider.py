"""Paths 4 and 5: the provider's quota is used up; the provider is away, with the breaker and without it."""

import time
from typing import Any

from loadtests.faults_product import until
from loadtests.installation import Installation
from loadtests.paths.record import Shown
from loadtests.paths.stage import TESTS, accepted, job, most_attempts, staged, states, succeeded, work

QUOTA_JOBS, QUOTA_PER_MINUTE = 40, 300
OUTAGE_SECONDS, OUTAGE_JOBS = 20.0, 40
WAITED = "SELECT count(DISTINCT job_id) FROM ingestion_joboutcome WHERE outcome = 'wait'"
OPENINGS = "SELECT openings, state FROM ingestion_providerstate"
RETRIES = "SELECT count(*) FROM ingestion_joboutcome WHERE outcome IN ('retry', 'dead_letter')"


def quota_used_up() -> Shown:
    """Path 4."""
    shown = Shown(
        4, "With the provider's quota used up, jobs wait, spend no try and become no dead letter",
        constructed="the simulator's mode quota (a tenth of the limits), and a product that is told the larger limit, "
        "so that it meets the 429s", test=f"{TESTS}/test_path_4_quota_used_up.py",
    )  # fmt: skip
    provider = ("--mode", "quota", "--chat-requests-per-minute", str(QUOTA_PER_MINUTE), "--latency-scale", "0.1",
                "--embedding-tokens-per-minute", "100000000")  # fmt: skip
    changes = {"CHAT_REQUESTS_PER_MINUTE": str(QUOTA_PER_MINUTE), "QUESTION_SHARE": "0"}
    with staged(changes, provider=provider) as stage:
        headers = stage.caller("omar", "upload,operate")
        for number in range(QUOTA_JOBS):
            accepted(stage, headers, f"policy-{number}", 1)
        work(stage, "worker")
        waiting = _most_waiting(stage)
        statuses = stage.provider_ledger()["totals"]["by_status"]
        shown.counts = {
            "jobs": QUOTA_JOBS, "chat requests a minute that the provider grants": QUOTA_PER_MINUTE // 10,
            "most jobs that waited for the quota at once": waiting,
            "jobs that were given back to wait": int(stage.rows(WAITED)[0][0]),
            "answers by status": statuses, "states": states(stage), "most tries of a job": most_attempts(stage),
        }  # fmt: skip
        shown.holds = {
            "the provider answered 429": int(statuses.get("429", 0)) > 0,
            "no job spent a second try": most_attempts(stage) == 1,
            "no dead letter, all succeed": states(stage) == {"succeeded": QUOTA_JOBS},
        }
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def _most_waiting(stage: Installation) -> int:
    """Looks until the queue is empty."""
    most = 0

    def is_empty() -> bool:
        nonlocal most
        row = stage.rows(
            "SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state IN ('queued', 'running')) "
            "FROM ingestion_job"
        )[0]
        most = max(most, int(row[0]))
        return int(row[1]) == 0

    until("all jobs have ended", is_empty, 180)
    return most


def outage() -> Shown:
    """Path 5."""
    shown = Shown(
        5, "An outage opens the breaker; without it the tries run out",
        constructed="the simulator's mode outage; the second half has the breaker switched off by a huge threshold",
        test=f"{TESTS}/test_path_5_outage_and_breaker.py",
    )  # fmt: skip
    with_breaker = _outage({"BREAKER_OPEN_SECONDS": "3"}, shown)
    without = _outage({"BREAKER_OPEN_SECONDS": "3", "BREAKER_FAILURES": "1000000"}, shown, is_retrying=True)
    shown.counts = {
        "outage, s": OUTAGE_SECONDS, "jobs": OUTAGE_JOBS,
        **{f"breaker on: {name}": value for name, value in with_breaker.items()},
        **{f"breaker off: {name}": value for name, value in without.items()},
    }  # fmt: skip
    shown.holds = {
        "on: after the outage all jobs succeed": with_breaker["states in the end"] == {"succeeded": OUTAGE_JOBS},
        "on: no dead letter": with_breaker["dead letters"] == 0,
        "on: the breaker opened": with_breaker["openings during the outage"] > 0,
        "off: tries run out": without["dead letters"] > 0,
        "off: one dead letter, retried on purpose, succeeds": without["retried dead letter"]["state"] == "succeeded",
        "fewer calls with the breaker": with_breaker["calls that reached the provider in the outage"]
        < without["calls that reached the provider in the outage"],
    }
    return shown


def _outage(changes: dict[str, str], shown: Shown, *, is_retrying: bool = False) -> dict[str, Any]:
    """Twenty seconds of 503 from the first upload's start, then a normal provider until the queue is empty."""
    with staged(changes) as stage:
        headers = stage.caller("omar", "upload,operate")
        work(stage, "worker")
        stage.control("mode", {"mode": "outage"})
        began = time.monotonic()
        for number in range(OUTAGE_JOBS):
            accepted(stage, headers, f"policy-{number}", 1)
        until("the outage has lasted", lambda: time.monotonic() >= began + OUTAGE_SECONDS)
        reached = sum(call["status"] == 503 for call in stage.provider_ledger()["calls"])
        opened, state = stage.rows(OPENINGS)[0]
        stage.control("mode", {"mode": "normal"})
        stage.await_empty("documents", within=120)
        ended = states(stage)
        found: dict[str, Any] = {
            "calls that reached the provider in the outage": reached, "openings during the outage": int(opened),
            "breaker's state at its end": state, "tries charged": int(stage.rows(RETRIES)[0][0]),
            "dead letters": ended.get("dead_letter", 0), "most tries of a job": most_attempts(stage),
            "states in the end": ended,
        }  # fmt: skip
        if is_retrying:
            found["retried dead letter"] = _retried(stage)
        shown.settings |= stage.settings
        checked = stage.reconcile()
        shown.reconcile = {
            "rules": checked["rules"], "broken": {**shown.reconcile.get("broken", {}), **checked["broken"]},
        }  # fmt: skip
    return found


def _retried(stage: Installation) -> dict[str, Any]:
    """One dead letter is retried on purpose, and what became of it."""
    dead = stage.rows("SELECT id::text FROM ingestion_job WHERE state = 'dead_letter' ORDER BY sequence LIMIT 1")
    if not dead:
        return {"state": "none was there"}
    (identity,) = dead[0]
    stage.manage("retryjob", identity)
    until("the retried job succeeds", lambda: succeeded(stage, identity))
    return job(stage, identity)
