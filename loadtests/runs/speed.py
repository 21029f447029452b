"""Admission of events beside a bare view, in one run on the same server: passes in turns, medians of five."""

import socket
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from loadtests import k6
from loadtests.installation import Installation, installed
from loadtests.percentiles import median, ratio
from loadtests.recording import Figure, Found, say

# No worker runs and no limit is met: what is measured is admission alone, as if the queue were emptied at once.
SETTINGS = {
    "EVENTS_QUEUE_MAX": "1000000", "EVENTS_QUEUE_MAX_UNITS": "1000000000", "EVENTS_QUEUE_MAX_BYTES": "100000000000",
    "EVENTS_PER_MINUTE": "10000000",
}  # fmt: skip
CONNECTIONS, BATCH = 16, 100
PASSES, SECONDS, WARM_UP_SECONDS = 5, 3, 1
# The bare view's table (`bench_urls`).
TABLE = "CREATE TABLE bench_row (id bigserial PRIMARY KEY, caller_id bigint NOT NULL, body jsonb NOT NULL)"
# Each pass finds the queue as short as the flood's bound keeps it, not as long as the pass before left it.
EMPTY = (
    "TRUNCATE ingestion_eventeffect, ingestion_eventrecord, ingestion_job CASCADE",
    "UPDATE ingestion_queuestate SET jobs = 0, units = 0, bytes = 0",
    "DELETE FROM ingestion_intakecount",
    "TRUNCATE bench_row",
)


NOTES = [
    "The bare view has no middleware, looks its token up by the ORM, as DRF's own TokenAuthentication does, and "
    "inserts one row by the ORM (`loadtests/bench_urls.py`).",
    "Servers, database and k6 share the machine's cores; every kind is slowed by that alike.",
]


@dataclass(frozen=True)
class Pass:
    """What one kind of pass asks for; `is_full` leaves one event in the queue."""

    name: str
    url: str
    mode: str = "event"
    status: int = 202
    connections: int = CONNECTIONS
    size: int = 1
    is_full: bool = False


def measure(*, short: bool = False) -> Found:
    """Rates and times of each kind of pass, medians over passes that alternate."""
    passes, seconds = (1, 1) if short else (PASSES, SECONDS)
    with installed(SETTINGS, workers=0) as stage:
        headers = stage.caller("bench", "produce,operate")
        with psycopg.connect(stage.database_url, autocommit=True) as own:
            own.execute(TABLE.encode())
        kinds = _kinds(stage)
        for kind in kinds:
            # Servers import and connect at their first requests.
            _run(stage, headers, kind, WARM_UP_SECONDS, f"{kind.name}-warm")
        rates: dict[str, list[float]] = defaultdict(list)
        times: dict[str, list[float]] = defaultdict(list)
        rows: list[dict[str, Any]] = []
        for number in range(passes):
            say(f"pass {number + 1} of {passes}: {', '.join(kind.name for kind in kinds)}")
            for kind in kinds:
                row = _run(stage, headers, kind, seconds, f"{kind.name}-{number}")
                rows.append({"pass": number + 1, **row})
                rates[kind.name].append(row["per_second"])
                times[kind.name].append(row["median_ms"])
        _empty(stage)
        return Found(
            figures=figures(rates, times),
            settings=stage.settings, rows={"speed-passes": rows}, reconcile=stage.reconcile(),
            notes=NOTES,
        )  # fmt: skip


def _kinds(stage: Installation) -> list[Pass]:
    bare, full = _free_port(), _free_port()
    stage.start_server(
        "bare", bare, "larkfield.wsgi:application", changes={"DJANGO_SETTINGS_MODULE": "loadtests.bench_settings"}
    )
    stage.start_server("full", full, "larkfield.wsgi:application", changes={"EVENTS_QUEUE_MAX": "1"})
    events = f"{stage.api_url}/v1/events"
    return [
        Pass("bare", f"http://127.0.0.1:{bare}/bare"),
        Pass("event", events),
        Pass("refused", f"http://127.0.0.1:{full}/v1/events", status=503, is_full=True),
        Pass("single", events, connections=1),
        Pass("batch", f"{events}/batch", mode="batch", status=200, connections=1, size=BATCH),
    ]


def _run(stage: Installation, headers: Mapping[str, str], kind: Pass, seconds: int, name: str) -> dict[str, Any]:
    _empty(stage)
    if kind.is_full:
        event = {"producer": "desk", "event_id": name, "type": "document.viewed", "occurred_at": "2026-11-27T09:00:00Z",
                 "payload": {"document": "returns", "version": 1}}  # fmt: skip
        stage.api.post("/v1/events", json=event, headers=headers).raise_for_status()
    metrics = k6.run(
        "admission.js",
        {"URL": kind.url, "MODE": kind.mode, "STATUS": kind.status, "VUS": kind.connections, "SIZE": kind.size,
         "SECONDS": seconds, "PASS": name, "TOKEN": headers["Authorization"].split()[1]},
        within=seconds,
    )  # fmt: skip
    wanted, others = k6.count(metrics, "wanted"), k6.count(metrics, "others")
    if others or not wanted:
        raise RuntimeError(f"{kind.name}: {others} answers were not {kind.status}, {wanted} were")
    return {
        "kind": kind.name, "connections": kind.connections, "answers": wanted,
        "per_second": round(float(metrics["wanted"]["rate"]), 1),
        "median_ms": round(float(metrics["http_req_duration"]["med"]), 3),
        "p95_ms": round(float(metrics["http_req_duration"]["p(95)"]), 3),
    }  # fmt: skip


def figures(rates: Mapping[str, list[float]], times: Mapping[str, list[float]]) -> list[Figure]:
    """Medians of the passes; ratios are taken round by round: what disturbs a round disturbs both of their parts."""
    how = "median of the rounds' ratios"
    admitted = median(ratios(rates["event"], rates["bare"]))
    refused = median(ratios(rates["refused"], rates["event"]))
    batched = median(ratios(times["batch"], times["single"]))
    return [
        Figure(f"bare view with a token and one insert, {CONNECTIONS} connections", median(rates["bare"]), "/s"),
        Figure(f"admission of events, {CONNECTIONS} connections", median(rates["event"]), "/s"),
        Figure("admission over the bare view", admitted, "", "≥ 0.5", how),
        Figure(f"refusals by a full queue, {CONNECTIONS} connections", median(rates["refused"]), "/s"),
        Figure("refusing over accepting", refused, "", "≥ 2", how),
        Figure("one event, one connection, median", median(times["single"]), "ms"),
        Figure(f"a batch of {BATCH}, one connection, median", median(times["batch"]), "ms"),
        Figure(f"a batch of {BATCH} in single requests", batched, "", "≤ 10", how),
        Figure(f"events admitted in batches of {BATCH}, one connection", BATCH * median(rates["batch"]), "/s"),
    ]


def ratios(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """One ratio a round."""
    return [ratio(value, other) for value, other in zip(values, others, strict=True)]


def _empty(stage: Installation) -> None:
    with psycopg.connect(stage.database_url, autocommit=True) as own:
        for statement in EMPTY:
            own.execute(statement.encode())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
