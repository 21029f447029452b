"""How soon an idle worker takes a job: events and documents, one at a time."""

import time
from collections.abc import Mapping

import httpx
import psutil

from loadtests.installation import Installation, installed
from loadtests.percentiles import median, percentile, spread
from loadtests.recording import Figure, Found, say

SETTINGS = {"QUESTION_SHARE": "0", "CHAT_REQUESTS_PER_MINUTE": "100000", "EMBEDDING_TOKENS_PER_MINUTE": "100000000"}
# Full quotas and no latency: what is measured is the queue.
PROVIDER = (
    "--latency-scale", "0", "--chat-requests-per-minute", "100000", "--embedding-tokens-per-minute", "100000000",
)  # fmt: skip
EVENTS, DOCUMENTS = 200, 50
# Between two jobs, so that the worker is idle again: it waits for a notification, not in its poll.
IDLE_SECONDS = 0.05
TIMES = """
SELECT extract(epoch FROM started_at - queued_at)::float8 * 1000 AS pick_up,
       extract(epoch FROM finished_at - queued_at)::float8 * 1000 AS whole
FROM ingestion_job WHERE queue = %s AND state = 'succeeded' ORDER BY sequence
"""
DONE = "SELECT count(*) FROM ingestion_job WHERE id = %s::uuid AND finished_at IS NOT NULL"
PATIENCE_SECONDS = 30.0


def measure(*, short: bool = False) -> Found:
    """Times from accepted to claimed, over jobs that each found an idle worker."""
    events, documents = (20, 5) if short else (EVENTS, DOCUMENTS)
    with installed(SETTINGS, provider=PROVIDER) as stage:
        headers = stage.caller("pickup", "upload,produce,operate")
        # The first job also waits for the worker's start.
        _await(stage, stage.upload(headers, "returns", "# Returns\n\nWithin 30 days.\n"))
        say(f"{documents} documents, {events} events, one at a time")
        for number in range(documents):
            _await(stage, stage.upload(headers, f"policy-{number}", f"# Policy {number}\n\nRule {number} holds.\n"))
        for number in range(events):
            _await(stage, _send(stage, headers, number))
        idle = _idle_cost(stage, seconds=2.0 if short else 10.0)
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
        for queue, skipped in (("documents", 1), ("events", 0)):
            rows = stage.rows(TIMES, queue)[skipped:]
            _add(found, queue, [row[0] for row in rows], [row[1] for row in rows])
        found.figures.append(idle)
    return found


def _idle_cost(stage: Installation, seconds: float) -> Figure:
    """What a worker without work asks of one core."""
    worker = stage.workers["worker-1"]
    assert worker is not None
    process = psutil.Process(worker.process.pid)
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return Figure("idle worker: part of one core", used / seconds, "", None, f"{used:.2f} s of CPU in {seconds:g} s")


def _add(found: Found, queue: str, pick_up: list[float], whole: list[float]) -> None:
    how = f"started_at − queued_at of {len(pick_up)} jobs, by the database's clock"
    found.figures += [
        Figure(f"{queue}: pick-up by an idle worker, median", median(pick_up), "ms", "< 25", how),
        Figure(f"{queue}: pick-up by an idle worker, p95", percentile(pick_up, 0.95), "ms", None, how),
        Figure(f"{queue}: accepted to finished, median", median(whole), "ms", None, "finished_at − queued_at"),
    ]
    found.facts[f"{queue} pick-up ms"] = spread(pick_up)
    found.rows[f"pickup-{queue}"] = [
        {"pick_up_ms": round(one, 2), "whole_ms": round(two, 2)} for one, two in zip(pick_up, whole, strict=True)
    ]


def _send(stage: Installation, headers: Mapping[str, str], number: int) -> httpx.Response:
    event = {
        "producer": "helpdesk", "event_id": f"e-{number}", "type": "document.viewed",
        "occurred_at": "2026-11-27T09:00:00Z", "payload": {"document": "returns", "version": 1},
    }  # fmt: skip
    return stage.api.post("/v1/events", json=event, headers=headers)


def _await(stage: Installation, answer: httpx.Response) -> None:
    """The accepted job has finished, and the worker has had a moment to become idle."""
    answer.raise_for_status()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not stage.rows(DONE, answer.json()["job"]["id"])[0][0]:
        if time.monotonic() > deadline:
            raise RuntimeError("a job was not finished; see the worker's log")
        time.sleep(0.02)
    time.sleep(IDLE_SECONDS)
