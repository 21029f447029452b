"""Admission over HTTP beside a DRF view on the same server: events, uploads and refusals, in turns."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from loadtests import k6
from loadtests.bench.cores import Cores, said
from loadtests.bench.drf_project import starting
from loadtests.bench.product import OPEN
from loadtests.bench.turns import Series, ratio_of
from loadtests.footprint import free_port
from loadtests.installation import Installation, installed
from loadtests.recording import Figure, Found, say, shown

# Neither bound nor limit of a caller is met, where not said: no worker runs, so that admission alone is measured.
SETTINGS = {
    **OPEN, "DOCUMENTS_QUEUE_MAX": "1000000", "DOCUMENTS_QUEUE_MAX_UNITS": "1000000000000",
    "DOCUMENTS_QUEUE_MAX_BYTES": "100000000000", "PROMISED_WAIT_SECONDS": "0",
}  # fmt: skip
CONNECTIONS = (8, 32)
SECONDS, SHORT_SECONDS = 4, 1
# Each pass finds the queue empty, as a worker that keeps up leaves it.
EMPTY = (
    "TRUNCATE ingestion_document, ingestion_job CASCADE",
    "UPDATE ingestion_queuestate SET jobs = 0, units = 0, bytes = 0",
)


@dataclass(frozen=True)
class Target:
    """One kind of request: where it goes and what its answer is."""

    name: str
    title: str
    url: str
    token: str
    mode: str
    status: int
    server: int
    is_full: bool = False


def measure(*, passes: int, short: bool) -> Found:
    """Requests a second of each kind at each number of connections."""
    seconds = SHORT_SECONDS if short else SECONDS
    with installed(SETTINGS, workers=0) as stage:
        headers = stage.caller("bench", "upload,produce,operate")
        targets = _targets(stage, headers)
        for target in targets:
            _run(stage, headers, target, CONNECTIONS[0], 1, f"warm-{target.name}")
        results: dict[tuple[str, int], Series] = defaultdict(lambda: Series([]))
        limits: dict[tuple[str, int], str] = {}
        for number in range(passes):
            for connections in CONNECTIONS:
                for target in targets:
                    cores = Cores({"server": target.server, "PostgreSQL": stage.postmaster()})
                    name = f"{target.name}-{connections}-{number}"
                    rate = _run(stage, headers, target, connections, seconds, name)
                    limits[target.name, connections] = said(cores.used())
                    results[target.name, connections].passes.append(rate)
                    say(f"  pass {number + 1}  {target.title}, {connections} connections: {shown(rate)}/s")
        _empty(stage)
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
    found.figures = figures(results, limits)
    titles = {target.name: target.title for target in targets}
    found.facts["tables"] = {
        "Requests a second": [
            {"what": titles[name], "connections": connections, **_kept(series)}
            for (name, connections), series in results.items()
        ]
    }
    found.notes = [
        "The DRF view is a new project's: its middleware, `TokenAuthentication`, a `ModelSerializer`, one insert, "
        "connections kept by each thread (`loadtests/bench/drf_project`). It has no idempotency, no bound, no limit "
        "of a caller, no job and no estimate.",
        "All on granian as `make run` starts it. Servers, PostgreSQL and k6 share the cores.",
        "An upload is 8 KiB of new Markdown under a new slug: its file, document, version and job are stored.",
    ]
    return found


def _kept(series: Series) -> dict[str, float]:
    return {name: series.as_json()[name] for name in ("median", "least", "most")}


def _targets(stage: Installation, headers: Mapping[str, str]) -> list[Target]:
    drf, drf_token, drf_server = starting.start(stage)
    full_port, token = free_port(), headers["Authorization"].split()[1]
    full = stage.start_server("full", full_port, "larkfield.wsgi:application", changes={"EVENTS_QUEUE_MAX": "1"})
    api = stage.api_process.process.pid
    return [
        Target("drf", "DRF view, a token and one insert", drf, drf_token, "event", 201, drf_server),
        Target("event", "events accepted", f"{stage.api_url}/v1/events", token, "event", 202, api),
        Target("upload", "uploads accepted, 8 KiB", f"{stage.api_url}/v1/documents", token, "upload", 202, api),
        Target("refused", "events refused by a full queue", f"http://127.0.0.1:{full_port}/v1/events", token, "event",
               503, full.process.pid, is_full=True),
    ]  # fmt: skip


def _run(
    stage: Installation, headers: Mapping[str, str], target: Target, connections: int, seconds: int, name: str
) -> float:
    _empty(stage)
    if target.is_full:
        event = {"producer": "desk", "event_id": name, "type": "document.viewed", "occurred_at": "2026-11-27T09:00:00Z",
                 "payload": {"document": "returns", "version": 1}}  # fmt: skip
        stage.api.post("/v1/events", json=event, headers=headers).raise_for_status()
    metrics = k6.run(
        "admission.js",
        {"URL": target.url, "MODE": target.mode, "STATUS": target.status, "VUS": connections, "SECONDS": seconds,
         "PASS": name, "TOKEN": target.token},
        within=seconds,
    )  # fmt: skip
    wanted, others = k6.count(metrics, "wanted"), k6.count(metrics, "others")
    if others or not wanted:
        raise RuntimeError(f"{target.name}: {others} answers were not {target.status}, {wanted} were")
    return float(metrics["wanted"]["rate"])


def _empty(stage: Installation) -> None:
    with psycopg.connect(stage.database_url, autocommit=True) as own:
        for statement in EMPTY:
            own.execute(statement.encode())


def figures(results: Mapping[tuple[str, int], Series], limits: Mapping[tuple[str, int], str]) -> list[Figure]:
    """Ours against the view, and refusing against accepting, at each number of connections."""
    found = []
    for connections in CONNECTIONS:
        drf, event = results["drf", connections], results["event", connections]
        for name, other, target, words in (
            ("event", drf, "≥ 0.9", "events accepted over the DRF view"),
            ("upload", drf, "≥ 0.6", "uploads accepted over the DRF view"),
            ("refused", event, "≥ 3", "events refused when full over accepted"),
        ):
            series = results[name, connections]
            how = f"{shown(series.median)} / {shown(other.median)} a second; {limits[name, connections]}"
            found.append(Figure(f"{words}, {connections} connections", ratio_of(series, other), "×", target, how))
    return found
