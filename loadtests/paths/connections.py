"""Path 8: the connections of all processes of the largest configuration, summed and counted while all of them work."""

import json
from concurrent.futures import ThreadPoolExecutor

from loadtests.faults_product import until
from loadtests.installation import API_OPTIONS, Installation
from loadtests.paths.record import Shown
from loadtests.paths.stage import TESTS, accepted, staged, work

WORKERS, JOBS, READS, READERS = 8, 80, 600, 16
API_PROCESSES = int(API_OPTIONS[API_OPTIONS.index("--workers") + 1])
SESSIONS = """
SELECT application_name, count(*) FROM pg_stat_activity
WHERE datname = current_database() AND (application_name = 'api' OR application_name LIKE 'worker-%%')
  AND %s = %s
GROUP BY application_name
"""


def connections() -> Shown:
    """Path 8."""
    shown = Shown(
        8,
        "The connections of all processes stay below the database's limit",
        test=f"{TESTS}/test_path_8_connections.py",
    )
    with staged({"WORKER_CONCURRENCY": "16"}, provider=("--latency-scale", "0.3")) as stage:
        headers = stage.caller("omar", "upload,operate")
        for number in range(1, WORKERS + 1):
            work(stage, f"worker-{number}")
        computed = json.loads(
            stage.manage("capacity", "--json", "--api-processes", str(API_PROCESSES), "--workers", str(WORKERS))
        )
        seen = _counted(stage, headers)
        workers = {name: count for name, count in seen.items() if name != "api"}
        shown.counts = {
            "API processes": API_PROCESSES, "workers": WORKERS, "sum": computed["connections"],
            "arithmetic": computed["connections_arithmetic"], "the server allows": computed["max_connections"],
            "seen at most, all API processes": seen.get("api", 0), "seen at most, one worker": max(workers.values()),
            "seen at most, all together": sum(seen.values()), "requests meanwhile": READS, "jobs meanwhile": JOBS,
        }  # fmt: skip
        shown.holds = {
            "the sum is below the limit": computed["connections"] < computed["max_connections"],
            "no more than the sum was ever seen": sum(seen.values()) <= computed["connections"],
            "every worker was seen": len(workers) == WORKERS,
        }
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def _counted(stage: Installation, headers: dict[str, str]) -> dict[str, int]:
    """The most sessions of each process while jobs run and callers read."""
    jobs = [accepted(stage, headers, f"policy-{number}", 2) for number in range(JOBS)]
    most: dict[str, int] = {}

    def look() -> bool:
        for name, count in _sessions(stage):
            most[name] = max(most.get(name, 0), count)
        return bool(stage.rows("SELECT jobs FROM ingestion_queuestate WHERE queue = 'documents'")[0][0] == 0)

    def read(number: int) -> int:
        return stage.api.get(f"/v1/jobs/{jobs[number % JOBS]}", headers=headers).status_code

    with ThreadPoolExecutor(READERS) as readers:
        answers = [readers.submit(read, number) for number in range(READS)]
        until("the jobs have ended", look, 180)
        assert {answer.result() for answer in answers} == {200}
    return most


def _sessions(stage: Installation) -> list[tuple[str, int]]:
    # The pair of equal values lets the doubled percent sign of LIKE through.
    return [(str(name), int(count)) for name, count in stage.rows(SESSIONS, 1, 1)]
