"""One pass: an installation of its own, the arrivals, the readings, the accounts, and the folder that keeps them."""

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import psutil

from loadtests import accounts, job_rows, k6, machine, parts, pass_charts, sealing, texts
from loadtests.installation import Installation, installed
from loadtests.plan import PLENTY, PLENTY_PROVIDER, Plan
from loadtests.questions import texts as question_texts
from loadtests.recording import say
from loadtests.runs.flooding import publish_subject
from loadtests.watching import Watch, queue_reader

Row = dict[str, Any]
SUMMARY = "summary.json"
TOLD_EVERY_SECONDS = 5.0


@dataclass
class Taken:
    """Everything that one pass has found."""

    plan: Plan
    figures: accounts.Figures = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    charts: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def take(plan: Plan, place: Path, number: int, *, is_short: bool) -> dict[str, Any]:
    """The pass is run and its folder written and sealed; returns the summary."""
    asked = parts.four_parts(plan.scenario)
    before, began = machine.reading(), time.monotonic()
    psutil.cpu_percent()
    taken = _run(plan)
    taken.figures |= {
        "cpu_percent": psutil.cpu_percent(), "load_before": before["load_average"][0],
        "load_after": machine.load_average()[0],
    }  # fmt: skip
    summary = {
        "scenario": plan.scenario, "configuration": plan.configuration, "pass": number, "short": is_short,
        "seconds": round(time.monotonic() - began, 1), "parts": asked, "settings": dict(plan.settings),
        "provider": list(plan.provider), "workers": plan.workers, "policies_published_before": plan.is_loaded,
        "variables": dict(plan.variables), "code": machine.fingerprint(),
        "machine": machine.describe(), "before": before, "after": machine.reading(),
        "figures": {name: _rounded(value) for name, value in taken.figures.items()}, "facts": taken.facts,
    }  # fmt: skip
    keep(place, summary, taken)
    return summary


def keep(place: Path, summary: Mapping[str, Any], taken: Taken) -> None:
    """The folder holds this pass alone, sealed."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, rows in taken.rows.items():
        lines = (json.dumps(_brief(row), ensure_ascii=False, separators=(",", ":"), default=str) for row in rows)
        (place / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    for name, text in taken.charts.items():
        (place / name).write_text(text)
    (place / SUMMARY).write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    sealing.seal(place)


def _brief(row: Row) -> Row:
    """Times to a tenth of a millisecond: more is noise, and makes the kept files larger. Money is exact."""
    return {
        name: round(value, 4) if isinstance(value, float) and name != "cost_usd" else value
        for name, value in row.items()
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _run(plan: Plan) -> Taken:
    loading = {**plan.settings, **PLENTY} if plan.is_loaded else plan.settings
    provider = ("--latency-scale", "0", *PLENTY_PROVIDER) if plan.is_loaded else plan.provider
    with installed(loading, workers=plan.workers, provider=provider) as stage:
        headers = stage.caller("policy-team", "upload,ask,produce,operate")
        if plan.is_loaded:
            _publish_policies(stage, headers, plan)
        elif plan.queue == "events":
            publish_subject(stage, headers)
        return _attack(stage, headers, plan)


def _publish_policies(stage: Installation, headers: dict[str, str], plan: Plan) -> None:
    """The policies are published without waiting for a quota; then everything runs under the plan's settings."""
    say("    publishing the policies outside the limits")
    stage.environment["LARKFIELD_TOKEN"] = headers["Authorization"].split()[1]
    stage.manage("loadcorpus", "--api", stage.api_url)
    for name in PLENTY.keys() - plan.settings.keys():
        stage.settings.pop(name)
        stage.environment.pop(name)
    stage.restart(plan.settings, plan.provider)
    stage.await_full_buckets(headers)


def _attack(stage: Installation, headers: dict[str, str], plan: Plan) -> Taken:
    variables = {"API": stage.api_url, "TOKEN": headers["Authorization"].split()[1], **plan.variables}
    seconds = _seconds(plan.variables)
    if plan.queue == "documents":
        variables |= _files(stage, plan)
    stage.control("reset", {})
    began = job_rows.now_of(stage)
    with Watch(stage.database_url, plan.queue, _telling(queue_reader(stage.api, headers, plan.queue))) as watch:
        attack = k6.Attack(f"{plan.scenario}.js", variables)
        metrics = attack.finish(seconds)
        stage.await_empty(plan.queue)
    taken = Taken(plan)
    jobs = job_rows.jobs_since(stage, began, plan.queue)
    calls = job_rows.calls_since(stage, began)
    said = [json.loads(line) for line in attack.said if line.startswith("{")]
    if plan.queue == "events":
        taken.figures |= _of_events(metrics, jobs)
    else:
        _account(taken, said, jobs, calls, stage, metrics)
    taken.figures |= accounts.of_jobs(jobs, began.timestamp()) | accounts.of_queue(watch.rows, watch.most)
    checked = stage.reconcile()
    taken.figures["broken_rules"] = len(checked["broken"])
    taken.facts |= {"reconcile": checked, "depth_looks": watch.looks, "began_at": began.isoformat()}
    taken.rows |= {"seconds": watch.rows, "jobs": jobs}
    taken.charts = pass_charts.drawn(watch.rows, watch.depths, jobs)
    return taken


def _seconds(variables: Mapping[str, int]) -> int:
    """How long arrivals come."""
    lengths = [variables.get(name, 0) for name in ("UPLOAD_SECONDS", "QUESTION_SECONDS")]
    return max(*lengths, variables.get("BURST", 0) + variables.get("CALM_SECONDS", 0))


def _files(stage: Installation, plan: Plan) -> dict[str, Path]:
    """The texts and questions as the scenario reads them."""
    count = ceil(plan.variables["UPLOAD_RATE"] * plan.variables["UPLOAD_SECONDS"] / 60) + 1
    made = texts.editions(stage, stage.folder / "editions", count) if plan.is_loaded else texts.policies()
    return {
        "VERSIONS": texts.written(stage.folder, "versions", made),
        "QUESTIONS": texts.written(stage.folder, "questions", question_texts()),
    }


def _account(
    taken: Taken, said: Sequence[Row], jobs: Sequence[Row], calls: list[Row], stage: Installation,
    metrics: Mapping[str, Any],
) -> None:  # fmt: skip
    uploads = [row for row in said if row["kind"] == "upload"]
    asked = [row for row in said if row["kind"] == "question"]
    statuses = stage.provider_ledger()["totals"]["by_status"]
    taken.figures |= accounts.of_uploads(uploads, jobs, k6.count(metrics, "dropped_iterations"))
    taken.figures |= accounts.of_calls(calls, len(jobs), int(statuses.get("429", 0)))
    taken.figures |= accounts.of_questions(asked)
    taken.facts["provider_calls_by_status"] = statuses
    taken.rows |= {"uploads": uploads, "questions": asked, "calls": calls}


def _of_events(metrics: Mapping[str, Any], jobs: Sequence[Row]) -> accounts.Figures:
    """The flood's counts by k6, and whether every acknowledged event was completed."""
    sent = {
        word: sum(k6.count(metrics, f"{phase}_{word}") for phase in ("flood", "calm"))
        for word in ("accepted", "rejected", "unanswered", "other")
    }
    times = metrics.get("http_req_duration", {})
    return {
        "offered": sum(sent.values()), "accepted": sent["accepted"], "queue_full": sent["rejected"],
        "unanswered": sent["unanswered"], "other_answers": sent["other"],
        "dropped": k6.count(metrics, "dropped_iterations"),
        "lost": sent["accepted"] - sum(job["state"] == "succeeded" for job in jobs),
        "answer_p50_ms": times.get("med"), "answer_p95_ms": times.get("p(95)"), "answer_p99_ms": times.get("p(99)"),
    }  # fmt: skip


def _telling(read: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Reads the queue, and says every few seconds where it stands."""
    began = time.monotonic()
    told = began

    def reading() -> dict[str, Any]:
        nonlocal told
        row = read()
        if time.monotonic() - told >= TOLD_EVERY_SECONDS:
            told = time.monotonic()
            say(
                f"    {told - began:5.0f} s  {row['queued']:4d} queued  {row['running']:3d} running  "
                f"oldest {row['oldest_age_seconds'] or 0:5.1f} s  pace {row['pace_per_minute'] or 0:6.1f} a minute"
            )
        return row

    return reading
