"""Paths 1, 3 and 7, at the front door: an upload again, a full queue, a caller over its limit, nobody who works."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Barrier

import httpx

from loadtests.installation import Installation
from loadtests.paths.record import Shown
from loadtests.paths.stage import TESTS, accepted, calls_of, document, is_saved_once, saved_once, staged, states, work

COPIES = 6
BOUND = 5
LIMIT = 2
WITHOUT_WORKER_JOBS, WITHOUT_WORKER_SECONDS = 20, 10
ROWS = """
SELECT (SELECT count(*) FROM ingestion_document), (SELECT count(*) FROM ingestion_documentversion),
       (SELECT count(*) FROM ingestion_job), (SELECT count(*) FROM ingestion_idempotencykey)
"""


def same_upload_twice() -> Shown:
    """Path 1."""
    shown = Shown(
        1, "The same upload sent again with one Idempotency-Key", test=f"{TESTS}/test_path_1_same_upload_twice.py"
    )
    with staged() as stage:
        headers, other = stage.caller("omar", "upload,operate"), stage.caller("mei", "upload")
        answers = _together(stage, headers)
        replays = [answer for answer in answers if answer.headers.get("Idempotent-Replayed") == "true"]
        changed = stage.upload(headers, "returns", document("another body"), "key-1")
        stranger = stage.upload(other, "deposits", document("deposits"), "key-1")
        first = {answer.json()["job"]["id"] for answer in answers}
        work(stage, "worker")
        stage.await_empty("documents")
        (job,) = first
        saved, calls = saved_once(stage, job), calls_of(stage, job)
        shown.counts = {
            "copies sent at the same moment": len(answers), "answered 202": sum(a.status_code == 202 for a in answers),
            "of these Idempotent-Replayed": len(replays), "different jobs": len(first),
            "different versions": len({answer.json()["version"]["number"] for answer in answers}),
            "same key, another body": changed.status_code, "same key, another caller": stranger.status_code,
            "chat calls of the job": sum(call["step"] == "summarize" for call in calls), **saved,
        }  # fmt: skip
        shown.holds = {
            "one job and one version": len(first) == 1,
            "all copies but one are replays": len(replays) == COPIES - 1,
            "another body is refused with 422": changed.status_code == 422,
            "another caller's equal key is its own": stranger.status_code == 202
            and "Idempotent-Replayed" not in stranger.headers,
            "everything is saved once": is_saved_once(saved),
        }
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def _together(stage: Installation, headers: dict[str, str]) -> list[httpx.Response]:
    barrier = Barrier(COPIES)

    def send(_: int) -> httpx.Response:
        barrier.wait()
        return stage.upload(headers, "returns", document("returns"), "key-1")

    with ThreadPoolExecutor(COPIES) as threads:
        return list(threads.map(send, range(COPIES)))


def full_queue() -> Shown:
    """Path 3."""
    shown = Shown(
        3, "A full queue answers 503 queue_full; a caller over its limit 429 rate_limited",
        constructed="a small bound, a small limit of one caller, and no worker until the refusals are counted",
        test=f"{TESTS}/test_path_3_full_queue.py",
    )  # fmt: skip
    with staged({"DOCUMENTS_QUEUE_MAX": str(BOUND)}) as stage:
        headers, eager = stage.caller("omar", "upload,operate"), _limited(stage)
        first = [stage.upload(eager, f"eager-{number}", document(f"e{number}")) for number in range(LIMIT + 1)]
        calm = stage.upload(headers, "calm", document("calm"))
        filling = [
            stage.upload(headers, f"fill-{number}", document(f"f{number}")) for number in range(BOUND - LIMIT - 1)
        ]
        before = _saved(stage)
        refused = stage.upload(headers, "over", document("over"), "key-over")
        after = _saved(stage)
        work(stage, "worker")
        stage.await_empty("documents")
        again = stage.upload(headers, "over", document("over"), "key-over")
        stage.await_empty("documents")
        shown.counts = {
            "one caller, limit of uploads a minute": LIMIT, "its answers": [answer.status_code for answer in first],
            "its Retry-After, s": int(first[-1].headers["Retry-After"]), "another caller meanwhile": calm.status_code,
            "bound": BOUND, "filling answers": [answer.status_code for answer in filling],
            "answer above the bound": refused.status_code, "its code": refused.json()["code"],
            "its Retry-After, s (503)": int(refused.headers["Retry-After"]),
            "rows and files before": before, "rows and files after": after,
            "the same request later": again.status_code,
        }  # fmt: skip
        shown.holds = {
            "503 queue_full with Retry-After": refused.json()["code"] == "queue_full"
            and int(refused.headers["Retry-After"]) >= 1,
            "nothing of the refused upload is saved": before == after,
            "429 rate_limited for the one over its limit": first[-1].json()["code"] == "rate_limited",
            "202 for another caller meanwhile": calm.status_code == 202,
            "the same request is accepted later": again.status_code == 202,
        }
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def _limited(stage: Installation) -> dict[str, str]:
    token = stage.manage("createcaller", "eager", "--can", "upload", "--uploads-per-minute", str(LIMIT)).strip()
    return {"Authorization": f"Bearer {token}"}


def _saved(stage: Installation) -> list[int]:
    """Documents, versions, jobs, keys, files."""
    files = sum(path.is_file() for path in Path(stage.folder / "data" / "files").rglob("*"))
    return [*map(int, stage.rows(ROWS)[0]), files]


def no_worker() -> Shown:
    """Path 7."""
    shown = Shown(
        7, "With no worker running, uploads still get 202 and the reading tells",
        constructed="no worker is started", test=f"{TESTS}/test_path_7_no_worker.py",
    )  # fmt: skip
    with staged() as stage:
        headers = stage.caller("omar", "upload,operate")
        jobs = [accepted(stage, headers, f"policy-{number}", 1) for number in range(WITHOUT_WORKER_JOBS)]
        readings = []
        for _ in range(WITHOUT_WORKER_SECONDS):
            readings.append(stage.api.get("/v1/queue", headers=headers).json()["queues"]["documents"])
            time.sleep(1)
        ages = [round(reading["oldest_age_seconds"], 1) for reading in readings]
        before = states(stage)
        work(stage, "worker")
        stage.await_empty("documents")
        shown.counts = {
            "accepted without a worker": len(jobs), "live workers": [reading["workers"] for reading in readings][-1],
            "oldest age each second, s": ages, "queued each second": [reading["queued"] for reading in readings],
            "states before a worker came": before, "states after": states(stage),
        }  # fmt: skip
        shown.holds = {
            "the oldest age grows at every reading": all(a < b for a, b in pairwise(ages)),
            "nothing finishes": before == {"queued": WITHOUT_WORKER_JOBS},
            "no worker is counted": all(reading["workers"] == 0 for reading in readings),
            "a worker works all of it off": states(stage) == {"succeeded": WITHOUT_WORKER_JOBS},
        }
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown
