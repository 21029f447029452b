"""The exercise's flood against the real service, beside its model; and once more with a killed worker and a restart."""

from typing import Any

from loadtests import flood_model
from loadtests.installation import Installation, installed
from loadtests.k6 import Attack, count
from loadtests.percentiles import ratio
from loadtests.recording import Figure, Found, say
from loadtests.runs import flood_faults
from loadtests.runs.flooding import publish_subject, variables
from loadtests.watching import Watch, queue_reader

SETTINGS = {"EVENT_COMPLETIONS_PER_SECOND": "20", "EVENTS_QUEUE_MAX": "300"}
PROVIDER = ("--latency-scale", "0")
CALM_SECONDS, SHORT_SECONDS = 40, 3
LEDGER = ("offered", "accepted", "rejected", "completed", "queued", "running")
# What had happened by the end of the burst, by the database's clock; the burst begins with the first event saved.
AT_THE_END = """
WITH began AS (SELECT min(queued_at) AS at FROM ingestion_job WHERE queue = 'events')
SELECT count(*) FILTER (WHERE queued_at <= at + make_interval(secs => %s)),
       count(*) FILTER (WHERE finished_at <= at + make_interval(secs => %s))
FROM ingestion_job, began WHERE queue = 'events'
"""


def measure(*, short: bool = False) -> Found:
    """The clean flood and its drain, then the one with faults."""
    burst, calm = (SHORT_SECONDS, 8) if short else (flood_model.BURST_SECONDS, CALM_SECONDS)
    with installed(SETTINGS, provider=PROVIDER) as stage:
        found = _clean(stage, burst, calm)
    found.merge(flood_faults.measure(SETTINGS, PROVIDER, burst))
    return found


def _clean(stage: Installation, burst: int, calm: int) -> Found:
    headers = stage.caller("flood", "upload,produce,operate")
    publish_subject(stage, headers)
    read_queue = queue_reader(stage.api, headers, "events")

    def read() -> dict[str, Any]:
        ledger = stage.api.get("/v1/events/ledger", headers=headers).json()
        return {"ledger": {name: ledger[name] for name in LEDGER}, "queue": read_queue()}

    say(f"{flood_model.BURST} events a second for {burst} s, then {flood_model.CALM} a second for {calm} s")
    with Watch(stage.database_url, "events", read) as watch:
        metrics = Attack("flood.js", variables(stage, headers, burst, calm)).finish(burst + calm)
        stage.await_empty("events", within=120)
    ledger = stage.api.get("/v1/events/ledger", headers=headers).json()
    found = Found(settings=stage.settings, reconcile=stage.reconcile(), rows={"flood-seconds": watch.rows})
    accepted, completed = stage.rows(AT_THE_END, burst, burst)[0]
    live = flood_model.Second(
        offered=sum(count(metrics, f"flood_{word}") for word in ("accepted", "rejected", "unanswered", "other")),
        completed=completed, queued=accepted - completed, rejected=count(metrics, "flood_rejected"),
    )  # fmt: skip
    _compare(found, live, flood_model.flood(burst), burst)
    _reconcile(found, metrics, ledger)
    _drain(found, watch, live.queued, burst)
    return found


def _compare(found: Found, live: flood_model.Second, model: flood_model.Second, burst: int) -> None:
    names = ("offered", "completed", "queued", "rejected")
    found.facts["tables"] = {
        f"Totals after {burst} s of the flood": [
            {"total": name, "model": getattr(model, name), "live": getattr(live, name),
             "difference": getattr(live, name) - getattr(model, name)} for name in names
        ]
    }  # fmt: skip
    found.notes += differences(live, model)


def differences(live: flood_model.Second, model: flood_model.Second) -> list[str]:
    """Why the live totals are not those of the model, a sentence each; none where they are equal."""
    sentences = []
    if live.offered != model.offered:
        sentences.append(
            f"Offered {live.offered}, model {model.offered}: k6 starts an event each {1000 // flood_model.BURST} ms; "
            "the one on the edge of the last second may fall on either side, and a machine that is busy drops some."
        )
    if live.completed != model.completed:
        sentences.append(
            f"Completed {live.completed}, model {model.completed}: the model completes 20 at the end of each second; "
            "live the pace holds a quarter of a second's events from the idle time before, and grants one every 50 ms."
        )
    if live.queued != model.queued:
        sentences.append(
            f"Queued {live.queued}, model {model.queued}: a place is free from the moment an event completes "
            "until the next one arrives, and the second ended in between."
        )
    if live.rejected != model.rejected:
        sentences.append(
            f"Rejected {live.rejected}, model {model.rejected}: what is offered and neither completed nor queued; it "
            "takes up the differences of both."
        )
    return sentences


def _reconcile(found: Found, metrics: dict[str, Any], ledger: dict[str, Any]) -> None:
    phases = ("flood", "calm")
    sent = {
        word: sum(count(metrics, f"{phase}_{word}") for phase in phases) for word in ("accepted", "rejected", "other")
    }
    offered = sum(sent.values()) + sum(count(metrics, f"{phase}_unanswered") for phase in phases)
    off = abs(offered - ledger["offered"]) + sum(abs(sent[word] - ledger[word]) for word in ("accepted", "rejected"))
    found.facts["k6"] = {"offered": offered, **sent, "dropped": count(metrics, "dropped_iterations")}
    found.facts["ledger"] = ledger
    found.figures += [
        Figure("difference between k6's counts and the ledger", off, "events", "= 0", "offered, accepted and rejected"),
        Figure("accepted events that were completed", ratio(ledger["completed"], ledger["accepted"]), "", "= 1"),
    ]


def _drain(found: Found, watch: Watch, backlog: int, burst: int) -> None:
    began = next((moment for moment, depth in watch.depths if depth > 0), 0.0)
    ended = began + burst
    empty = watch.reached_at(1, after=ended)
    seconds = float("nan") if empty is None else empty - ended
    ideal = flood_model.drain_seconds(backlog, flood_model.COMPLETIONS, flood_model.CALM) or float("nan")
    found.figures += [
        Figure("peak depth", watch.most, "events", "≤ 300", f"the depth's row, read {watch.looks} times"),
        Figure("drain after the burst, ideal", ideal, "s", None,
               f"{backlog} / ({flood_model.COMPLETIONS} − {flood_model.CALM})"),
        Figure("drain after the burst, measured", seconds, "s", None, "until the depth is at most 1"),
        Figure("drain, measured over ideal", ratio(seconds, ideal), "", None),
    ]  # fmt: skip
    marks = range(0, int(watch.rows[-1]["second"]) + 1, 5)
    found.facts["tables"]["Queue and ledger every five seconds"] = [
        {"second": mark, "depth": row["depth"], **row["ledger"]}
        for mark in marks
        for row in watch.rows[mark : mark + 1]
        if "ledger" in row
    ]
