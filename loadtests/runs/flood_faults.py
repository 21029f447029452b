"""The flood with a worker killed in the middle of its events, and a restart of everything, the database included."""

import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from loadtests.installation import Installation, installed
from loadtests.k6 import Attack
from loadtests.recording import Figure, Found, say
from loadtests.runs.flooding import publish_subject, variables

# A killed worker's events are taken over within seconds, so that the run stays short.
SHORT_LEASES = {"LEASE_SECONDS": "5", "HEARTBEAT_SECONDS": "1", "PROVIDER_TIMEOUT_SECONDS": "4"}
KILL_AFTER_SECONDS = 2.0
TRIES = 2_000
CALM_SECONDS = 15
HELD = "SELECT count(*) FROM ingestion_job WHERE queue = 'events' AND state = 'running' AND worker LIKE %s"
STATES = """
SELECT event.producer || ' ' || event.event_id, job.state, count(effect.event_id)
FROM ingestion_eventrecord AS event JOIN ingestion_job AS job ON job.id = event.job_id
LEFT JOIN ingestion_eventeffect AS effect ON effect.event_id = event.id
GROUP BY event.id, job.id
"""
VIEWS = "SELECT coalesce(sum(views), 0)::int FROM ingestion_usageday"


def measure(settings: Mapping[str, str], provider: tuple[str, ...], burst: int) -> Found:
    """Nothing acknowledged is lost and nothing has an effect twice."""
    with installed({**settings, **SHORT_LEASES}, workers=2, provider=provider) as stage:
        headers = stage.caller("flood", "upload,produce,operate")
        publish_subject(stage, headers)
        say("the same again with two workers: one is killed in the middle of its events, then everything is restarted")
        attack = Attack("flood.js", variables(stage, headers, burst, CALM_SECONDS))
        began = time.monotonic()
        time.sleep(KILL_AFTER_SECONDS)
        held = kill_busy(stage, "worker-1")
        time.sleep(max(0.0, began + burst + 1 - time.monotonic()))
        restart_everything(stage)
        attack.finish(burst + CALM_SECONDS)
        stage.await_empty("events", within=180)
        return _account(stage, attack.said, held)


def kill_busy(stage: Installation, name: str) -> int:
    """The worker is killed while it holds events; returns how many. It is stopped first, so that they stay held."""
    worker = stage.workers[name]
    assert worker is not None
    for _ in range(TRIES):
        worker.signal(signal.SIGSTOP)
        # Its last statement may still be on its way to the database.
        time.sleep(0.003)
        held = int(stage.rows(HELD, f"%-{worker.process.pid}-%")[0][0])
        if held:
            worker.signal(signal.SIGKILL)
            return held
        worker.signal(signal.SIGCONT)
        time.sleep(0.007)
    raise RuntimeError(f"{name} never held an event")


def restart_everything(stage: Installation) -> None:
    """API, workers, Valkey and PostgreSQL are killed and run again on the data that they left."""
    stage.api_process.kill()
    for worker in stage.workers.values():
        if worker is not None:
            worker.signal(signal.SIGKILL)
    os.kill(stage.valkey_process(), signal.SIGKILL)
    os.kill(stage.postmaster(), signal.SIGKILL)
    stage.revive_database()
    stage.revive_valkey()
    stage.children.forget(stage.api_process)
    stage._start_api(int(stage.api_url.rpartition(":")[2]))
    stage.take_ended()
    for name in stage.workers:
        stage.start_worker(name)


def _account(stage: Installation, acknowledged: list[str], held: int) -> Found:
    rows: list[Any] = stage.rows(STATES)
    stored = {name: (state, effects) for name, state, effects in rows}
    lost = [name for name in acknowledged if stored.get(name, ("", 0))[0] != "succeeded"]
    completed = sum(state == "succeeded" for state, _ in stored.values())
    effects, twice = sum(count for _, count in stored.values()), sum(count > 1 for _, count in stored.values())
    views = int(stage.rows(VIEWS)[0][0])
    broken = stage.reconcile()["broken"]
    found = Found(facts={"with faults": {
        "acknowledged": len(acknowledged), "stored": len(stored), "stored without an acknowledgement":
        len(stored.keys() - set(acknowledged)), "completed": completed, "effects": effects, "views": views,
        "held by the killed worker": held, "broken rules": broken,
    }})  # fmt: skip
    found.figures = [
        Figure("with faults: acknowledged events lost", len(lost), "events", "= 0",
               f"of {len(acknowledged)} acknowledged, over a kill with {held} events held and a restart of everything"),
        Figure("with faults: events with a second effect", twice + abs(views - completed), "events", "= 0",
               f"{completed} completed, {effects} effects, {views} views counted"),
        Figure("with faults: broken invariants", len(broken), "rules", "= 0"),
    ]  # fmt: skip
    return found
