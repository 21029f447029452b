"""What the recorded runs are made of, without starting anything: plans, parts, accounts, comparisons, costs, charts."""

import json
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loadtests import (
    accounts,
    alone,
    charts,
    compare,
    cost,
    evidence,
    fresh,
    k6,
    limits,
    loopback,
    machine,
    one_pass,
    parts,
    passes,
    percentiles,
    run,
    workload,
)
from loadtests.columns import BY_NAME
from loadtests.faults_product import ROOT
from loadtests.installation import Installation
from loadtests.plan import COMPARISONS, SCENARIOS, Plan

ELSEWHERE = ["https://api.example.com/v1", "postgresql://larkfield@10.0.0.5/larkfield", "redis://203.0.113.9:6379/0"]


# --- loopback alone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ELSEWHERE)
def test_an_address_elsewhere_is_refused_wherever_it_is_given(tmp_path: Path, address: str) -> None:
    with pytest.raises(loopback.NotLoopback, match="PROVIDER_BASE_URL"):
        Installation(tmp_path, {"PROVIDER_BASE_URL": address})
    with pytest.raises(loopback.NotLoopback, match="API"):
        k6.Attack("burst.js", {"API": address})
    assert run.main(["burst", "--set", f"PROVIDER_BASE_URL={address}", "--out", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_storage_account_is_refused() -> None:
    with pytest.raises(loopback.NotLoopback):
        loopback.demand(
            {"AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=b"}
        )


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8000", "http://[::1]:9", "http://localhost/v1", "unix:///x", "7"]
)
def test_this_machine_is_not_refused(address: str) -> None:
    loopback.demand({"API": address})


# --- plans ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", sorted({*SCENARIOS, "drain"}))
def test_every_scenario_opens_with_its_four_parts(scenario: str) -> None:
    assert list(parts.four_parts(scenario)) == list(parts.NAMES)


def test_a_scenario_without_a_part_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half.js").write_text("// Question: What?\n// Shape: A line.\nexport default 1;\n")
    monkeypatch.setattr(parts, "SCENARIOS", tmp_path)
    with pytest.raises(parts.PartMissing, match="Workload, Environment"):
        one_pass.take(Plan("half"), tmp_path / "pass-1", 1, is_short=True)


@pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=lambda one: one.name)
def test_the_configurations_of_a_comparison_differ_in_one_setting_and_have_five_passes(comparison: object) -> None:
    before, after = comparison.pair  # type: ignore[attr-defined]  # the parameter's type is pytest's
    names = before.settings.keys() | after.settings.keys()
    changed = [name for name in names if before.settings.get(name) != after.settings.get(name)]
    changed += ["workers"] * (before.workers != after.workers)
    assert changed == [comparison.setting]  # type: ignore[attr-defined]
    assert (before.provider, before.variables, before.is_loaded) == (after.provider, after.variables, after.is_loaded)
    assert before.passes == after.passes == 5


def test_every_scenario_has_three_passes_and_a_short_form() -> None:
    for plan in SCENARIOS.values():
        assert plan.passes >= 3
        assert plan.short().passes == 1


def test_the_burst_is_the_busiest_minute_times_the_multiple() -> None:
    assert SCENARIOS["burst"].variables["UPLOAD_RATE"] == workload.planned_burst_per_minute()
    assert SCENARIOS["burst"].variables["UPLOAD_SECONDS"] == 60


def test_every_assumption_has_a_letter_of_its_own_and_a_reason() -> None:
    letters = [one["letter"] for one in workload.assumptions()]
    assert letters == [f"A{number}" for number in range(1, len(letters) + 1)]
    assert all(one["reason"] and one["what"] for one in workload.assumptions())
    named = (parts.SCENARIOS.parent / "templates" / "report.md").read_text()
    assert {f"A{number}" for number in range(1, 20) if f"A{number}" in named} <= set(letters)


def test_a_setting_is_changed_by_its_name_and_an_unknown_one_is_refused() -> None:
    plan = run.changed(SCENARIOS["overload"], ["DOCUMENTS_QUEUE_MAX=20", "WORKERS=2", "UPLOAD_SECONDS=5"])
    assert (plan.settings["DOCUMENTS_QUEUE_MAX"], plan.workers, plan.variables["UPLOAD_SECONDS"]) == ("20", 2, 5)
    assert plan.configuration == "normal+DOCUMENTS_QUEUE_MAX=20+WORKERS=2+UPLOAD_SECONDS=5"
    with pytest.raises(run.WrongSetting, match="NO_SUCH_THING"):
        run.changed(SCENARIOS["overload"], ["NO_SUCH_THING=1"])


# --- accounts -------------------------------------------------------------------------------------------------------


def upload(status: int, job: str | None = None, code: str | None = None, wait: int | None = None) -> accounts.Row:
    return {"status": status, "ms": 10.0, "job": job, "code": code, "retry_after": wait}


def test_an_accepted_upload_whose_job_did_not_succeed_is_lost_and_a_refused_one_is_not() -> None:
    uploads = [
        upload(202, "a"), upload(202, "b"), upload(202, "c"), upload(503, code="queue_full", wait=7),
        upload(503, code="queue_full", wait=9), upload(429, code="rate_limited", wait=60), upload(0), upload(500),
    ]  # fmt: skip
    jobs = [{"job": "a", "state": "succeeded"}, {"job": "b", "state": "dead_letter"}]
    found = accounts.of_uploads(uploads, jobs, dropped=0)
    names = ("offered", "accepted", "queue_full", "rate_limited", "unanswered", "other_answers", "lost")
    assert [found[name] for name in names] == [8, 3, 2, 1, 1, 1, 2]
    waits = [found[f"retry_after_{name}_s"] for name in ("least", "median", "most")]
    assert waits == [7, 9, 60]


def test_the_estimates_error_at_the_start_is_that_of_the_first_tenth() -> None:
    jobs = [
        {"result_seconds": 10.0 + place, "estimate_seconds": 0.0 if place == 0 else 10.0 + place, "start_seconds": 1.0,
         "estimate_low_seconds": 0.0, "estimate_high_seconds": 100.0, "queued_at": 0.0, "attempt": 1,
         "state": "succeeded"}
        for place in range(10)
    ]  # fmt: skip
    found = accounts.of_jobs(jobs, 0.0)
    assert (found["estimate_error_first_s"], found["estimate_error_s"], found["estimates_inside"]) == (10.0, 0.0, 1.0)


def test_every_figure_of_a_pass_has_a_column() -> None:
    calls = [{"purpose": "bulk", "lane": "chat", "outcome": "ok", "prompt_tokens": 1, "cost_usd": 0.1}]
    figures = {
        **accounts.of_uploads([], [], 0), **accounts.of_jobs([], 0.0), **accounts.of_calls(calls, 1, 0),
        **accounts.of_questions([]), **accounts.of_queue([], 0),
    }  # fmt: skip
    assert figures.keys() <= BY_NAME.keys()


# --- comparisons ----------------------------------------------------------------------------------------------------


def recorded(folder: Path, values: list[float]) -> Path:
    for number, value in enumerate(values, 1):
        place = folder / f"pass-{number}"
        place.mkdir(parents=True)
        (place / "summary.json").write_text(json.dumps({"pass": number, "figures": {"all_done_s": value, "lost": 0}}))
    return folder


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ([10, 11, 12], [5, 6, 7], "lower: 0.55 times"),
        ([5, 6, 7], [10, 11, 12], "higher: 1.83 times"),
        ([10, 11, 12], [12, 13, 14], "no difference shown"),
        ([10, 14, 12], [11, 11, 11], "no difference shown"),
    ],
)
def test_a_difference_is_shown_only_where_the_ranges_do_not_overlap(
    tmp_path: Path, first: list[float], second: list[float], verdict: str
) -> None:
    found = compare.differences(recorded(tmp_path / "a", first), recorded(tmp_path / "b", second))
    assert {one.column.name: one.verdict for one in found} == {"all_done_s": verdict, "lost": "the same in all passes"}


def test_a_configuration_without_a_pass_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(recorded(tmp_path / "a", [1.0])), str(tmp_path / "b")]) == 2
    assert "has no pass" in capsys.readouterr().err


# --- limits and costs -----------------------------------------------------------------------------------------------


def test_the_first_limit_is_the_smallest_and_the_turning_points_are_where_it_changes() -> None:
    place = limits.Place(chat_per_minute=100, tokens_per_minute=100_000, workers=1, slots_a_worker=16)
    cheap, dear = limits.Job("edit", 1.0, 140.0, 2.4), limits.Job("new", 1.0, 1600.0, 2.4)
    assert [limits.of(job, place)[0].name for job in (cheap, dear)] == ["chat quota", "embedding quota"]
    turning = limits.turning_points(cheap, place)
    assert turning["tokens_a_job"] == 1000
    slow = limits.Job("slow", 1.0, 140.0, turning["seconds_a_job"] * 1.01)
    assert limits.of(slow, place)[0].name == "workers"
    assert limits.bound(limits.of(cheap, place)[0], 900)["jobs"] == 1500


def test_a_cost_is_token_counts_times_prices_and_the_policy_day_is_their_sum() -> None:
    tokens = {
        "chat": {"prompt_tokens": 2_000_000, "completion_tokens": 500_000},
        "embeddings": {"prompt_tokens": 10_000_000, "completion_tokens": 0},
    }
    known = {
        "chat-small": {"prompt_usd_per_million": "0.15", "completion_usd_per_million": "0.60"},
        "embed-small": {"prompt_usd_per_million": "0.02", "completion_usd_per_million": "0"},
    }
    assert cost.usd(tokens, known) == Decimal("0.80")
    day = cost.policy_day(Decimal("0.001"), Decimal("0.0001"))
    assert Decimal(day["usd"]) == Decimal(day["versions"]) / 1000 + Decimal(day["questions"]) / 10_000


# --- jobs alone, charts, percentiles --------------------------------------------------------------------------------


def test_the_documents_alone_are_of_different_lengths_and_have_both_ends() -> None:
    lengths = [len(one["text"]) for one in alone.chosen(alone.DOCUMENTS)]
    assert len(set(lengths)) == len(lengths) >= 12
    assert (lengths[0], lengths[-1]) == (min(lengths), max(lengths))


def test_the_steps_of_a_job_fill_its_time() -> None:
    job = {"queued_at": 100.0, "start_seconds": 0.5, "result_seconds": 5.0}
    calls = [
        {"lane": "chat", "started_at": 101.0, "seconds": 2.0, "inputs": 1, "prompt_tokens": 9, "completion_tokens": 1},
        {"lane": "embeddings", "started_at": 103.5, "seconds": 1.0, "inputs": 3, "prompt_tokens": 9,
         "completion_tokens": 0},
    ]  # fmt: skip
    assert alone.steps(job, calls) == {
        "pick_up": 0.5, "read_and_chunk": 0.5, "summarize": 2.0, "embed": 1.0, "publish": 0.5, "whole": 5.0,
    }  # fmt: skip


def test_a_chart_is_whole_svg_and_keeps_its_lines_inside() -> None:
    text = charts.chart("Depth & age", "jobs", [charts.Line("a", [(0, 0), (10, 42)]), charts.Line("b", [(5, 7)])])
    found = ElementTree.fromstring(text)  # noqa: S314  # our own text
    curves = [node.attrib["points"].split() for node in found.iter() if node.tag.endswith("polyline")]
    places = [tuple(map(float, point.split(","))) for curve in curves for point in curve]
    assert len(curves) == 2
    assert all(0 <= x <= charts.WIDTH and charts.TOP <= y <= charts.HEIGHT for x, y in places)
    assert [charts.nice(value) for value in (0, 0.3, 1, 3, 42, 101)] == [1, 0.5, 1, 5, 50, 200]


def test_percentiles_of_a_file_leave_out_lines_without_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "jobs.jsonl"
    file.write_text("".join(json.dumps({"seconds": value}) + "\n" for value in (*range(1, 101), None)))
    assert percentiles.main([str(file), "seconds"]) == 0
    assert json.loads(capsys.readouterr().out) == {"count": 100, "p50": 50, "p95": 95, "p99": 99, "most": 100}


# --- resuming, and the fresh run ------------------------------------------------------------------------------------


def test_a_pass_is_recorded_only_for_this_code_and_these_settings(tmp_path: Path) -> None:
    plan = SCENARIOS["burst"]
    place = tmp_path / "pass-1"
    place.mkdir()

    def write(**changes: object) -> bool:
        found = {
            "code": machine.fingerprint(), "settings": dict(plan.settings), "provider": [], "workers": 1,
            "variables": dict(plan.variables), "short": False, **changes,
        }  # fmt: skip
        (place / "summary.json").write_text(json.dumps(found))
        return passes.is_recorded(place, plan)

    assert not passes.is_recorded(tmp_path / "pass-2", plan)
    assert write()
    assert not write(code="another")
    assert not write(settings={"DOCUMENTS_QUEUE_MAX": "1"})
    assert not write(short=True)


def test_the_evidence_has_every_scenario_comparison_and_path(tmp_path: Path) -> None:
    names = [part.name for part in evidence.parts(tmp_path)]
    assert {*SCENARIOS, *(f"compare-{name}" for name in COMPARISONS)} <= set(names)
    assert [name for name in names if name.startswith("path-")] == [f"path-{number}" for number in range(1, 9)]
    assert not any(part.is_recorded() for part in evidence.parts(tmp_path))


def test_what_a_fresh_run_keeps_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    kept = fresh.Fresh(tmp_path).without_paths(f"made {tmp_path}/.venv from {ROOT}/x, log /tmp/abc-1/log, ok")
    assert kept == "made project/.venv from original/x, log (folder), ok"
