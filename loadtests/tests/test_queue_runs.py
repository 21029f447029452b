"""The arithmetic of the measurements, and the pages that are written from it. Nothing is started."""

import json
import math
from pathlib import Path

import pytest

from loadtests import flood_model, recording, reporting
from loadtests.obedient import Upload
from loadtests.percentiles import percentile, ratio, share, spread
from loadtests.questions import Asked, texts
from loadtests.recording import Clock, Figure, Found
from loadtests.runs import flood, overload, quota, speed


def value(figures: list[Figure], words: str) -> float:
    """The one figure whose name has these words."""
    (found,) = [figure for figure in figures if words in figure.name]
    return found.value


# --- samples --------------------------------------------------------------------------------------------------------


def test_a_percentile_is_one_of_the_values_and_the_last_is_the_largest() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, part) for part in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert percentile([7.0], 0.95) == 7
    assert math.isnan(percentile([], 0.5))


def test_nothing_is_no_share_and_no_ratio() -> None:
    assert share(0, 0) == 0
    assert math.isnan(ratio(1, 0))
    assert spread([]) == {"count": 0}
    assert spread([1.0, 2.0, 9.0]) == {"count": 3, "median": 2.0, "p95": 9.0, "most": 9.0}


# --- targets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number, target, reached",
    [(1.05, "≤ 1.05", True), (1.06, "≤ 1.05", False), (25, "< 25", False), (2, "≥ 2", True), (0, "= 0", True),
     (1, "= 0", False), (math.nan, "≤ 1", False), (3, None, None)],
)  # fmt: skip
def test_a_target_is_reached_or_missed_and_no_number_reaches_none(
    number: float, target: str | None, reached: bool | None
) -> None:
    assert Figure("a figure", number, "", target).reached is reached


# --- quota ----------------------------------------------------------------------------------------------------------


def test_the_limit_allows_the_calls_less_what_bulk_may_take_at_the_start() -> None:
    """300 versions and 40 questions: 260 calls are not in the bucket above the share, at 100 a minute 156 s."""
    found = quota.use(163.8, bulk=300, asked=40)
    kept, whole = (figure.value for figure in found if figure.name.startswith("over the time"))
    assert kept == pytest.approx(163.8 / 156)
    assert whole == pytest.approx(163.8 / 144)
    assert value(found, "quota used") == pytest.approx(340 / (100 + 273))


def asked(seconds: float, status: int = 200, *, is_cached: bool = False) -> Asked:
    return Asked(0, 0.0, seconds, status, is_cached, True)


def test_cached_and_failed_questions_are_no_times_and_failures_are_counted() -> None:
    quiet = [asked(1.0)] * 20
    busy = [*[asked(1.2)] * 20, asked(0.01, is_cached=True), asked(9.0, 503)]
    found = quota.patience(quiet, busy)
    assert value(found, "over idle p95") == pytest.approx(1.2)
    assert value(found, "failed") == 1


def test_there_are_enough_questions_that_none_is_asked_twice_while_idle() -> None:
    assert len(set(texts())) >= quota.IDLE_QUESTIONS


# --- overload -------------------------------------------------------------------------------------------------------


def upload(*waits: float, accepted: bool = True) -> Upload:
    return Upload(0, 0.0, refusals=list(waits), accepted_at=1.0 if accepted else None)


def test_honest_is_who_was_accepted_at_the_first_obedient_retry() -> None:
    found = overload.honesty([upload(), upload(4.0), upload(6.0), upload(5.0, 7.0), upload(9.0, accepted=False)])
    assert value(found, "refused at first") == 4
    assert value(found, "first obedient retry") == 0.5
    assert value(found, "most refusals") == 2
    assert value(found, "median") == 5.5


def test_nobody_refused_is_no_fault() -> None:
    assert value(overload.honesty([upload()]), "refused at first") == 0


def test_the_documents_of_an_overload_are_all_different() -> None:
    assert len({overload.text_of(number) for number in range(500)}) == 500


# --- flood ----------------------------------------------------------------------------------------------------------


def test_equal_totals_need_no_explanation_and_each_difference_has_one() -> None:
    model = flood_model.flood()
    assert flood.differences(model, model) == []
    live = flood_model.Second(offered=1001, completed=197, queued=300, rejected=504)
    sentences = flood.differences(live, model)
    assert [sentence.split()[0] for sentence in sentences] == ["Offered", "Completed", "Rejected"]


# --- speed ----------------------------------------------------------------------------------------------------------


def test_ratios_are_taken_round_by_round_so_that_a_slow_round_changes_none() -> None:
    rates = {
        "bare": [900.0, 90.0, 900.0], "event": [450.0, 45.0, 450.0], "refused": [990.0, 99.0, 990.0],
        "single": [200.0] * 3, "batch": [40.0] * 3,
    }  # fmt: skip
    found = speed.figures(rates, {"single": [3.0, 30.0, 3.0], "batch": [24.0, 240.0, 24.0]})
    assert value(found, "over the bare view") == 0.5
    assert value(found, "refusing over accepting") == 2.2
    assert value(found, "in single requests") == 8
    assert value(found, "in batches") == 4000


# --- records --------------------------------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A full and a later short run of one kind."""
    found = Found(
        figures=[Figure("a ratio", 1.5, "", "≤ 1.3", "3 / 2"), Figure("a | time", 12.0, "s")],
        facts={"tables": {"A table": [{"second": 0, "depth": 3}]}}, notes=["It says why."],
        rows={"seconds": [{"second": 0}, {"second": 1}]}, settings={"EVENTS_QUEUE_MAX": "300"},
        reconcile={"rules": 31, "broken": {}},
    )  # fmt: skip
    recording.write("flood", found, Clock(), tmp_path, short=False)
    later = Clock()
    later.started_at = later.started_at.replace(year=later.started_at.year + 1)
    recording.write("flood", found, later, tmp_path, short=True)
    return tmp_path


def test_a_result_has_its_machine_its_settings_and_its_raw_lines(results: Path) -> None:
    folder = min((results / "flood").iterdir())
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["command"] == "python -m loadtests.queue_runs flood"
    assert summary["settings"] == {"EVENTS_QUEUE_MAX": "300"}
    assert {"cores", "memory_gib", "python", "packages", "commit", "is_dirty"} <= summary["machine"].keys()
    assert len(summary["load_average_before"]) == 3
    assert summary["figures"][0]["reached"] is False
    assert (folder / "seconds.jsonl").read_text().splitlines() == ['{"second":0}', '{"second":1}']


def test_the_page_shows_the_newest_full_run_with_its_folder_and_says_what_was_missed(results: Path) -> None:
    (found,) = reporting.newest(results)
    page = reporting.page([found])
    assert found[0].startswith("loadtests/results/flood/")
    assert f"](../{found[0]})" in page
    assert "| a ratio | 1.5 | ≤ 1.3 | MISSED | 3 / 2 |" in page
    assert "| a \\| time | 12 s |  |  |  |" in page
    assert "- It says why." in page
    assert "| second | depth |" in page
    assert "31 rules checked, 0 broken" in page
