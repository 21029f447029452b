"""The bench's arithmetic, its verdicts and its page, without a server; and one small pass on the real thing."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from loadtests.bench import page, peers_environment, results
from loadtests.bench.__main__ import MEASURES, parse_arguments
from loadtests.bench.bars import Bar, bars
from loadtests.bench.contestant import PEERS
from loadtests.bench.measures import admission, pickup, work
from loadtests.bench.measures.overload import Memory
from loadtests.bench.noop import NOOP
from loadtests.bench.peers.program import batches
from loadtests.bench.product import SETTINGS, JobRun, ProductRun
from loadtests.bench.turns import Series, pace, ratio_of, table
from loadtests.bench.working import rate, warm
from loadtests.installation import installed
from loadtests.recording import Clock, Figure, Found

OURS = f"larkfield {NOOP}"


def figure(figures: list[Figure], words: str) -> Figure:
    (found,) = [one for one in figures if words in one.name]
    return found


# --- paces ----------------------------------------------------------------------------------------------------------


def test_a_pace_begins_when_the_worker_is_warm_and_ends_at_the_last_look_that_saw_a_job() -> None:
    """A slow start and the empty looks at the end do not weigh: 800 jobs in two seconds are 400 a second."""
    looks = [(0.0, 1000), (3.0, 1000), (4.0, 950), (5.0, 900), (6.0, 500), (7.0, 100), (7.1, 0), (9.0, 0)]
    assert pace(looks) == pytest.approx(400)


def test_a_backlog_that_is_hardly_touched_has_a_pace_all_the_same() -> None:
    assert pace([(0.0, 100_000), (1.0, 99_400), (2.0, 98_400), (3.0, 97_400)]) == pytest.approx(1000)


@pytest.mark.parametrize("looks", [[], [(0.0, 10)], [(0.0, 10), (1.0, 0)], [(0.0, 10), (1.0, 5), (2.0, 5)]])
def test_too_few_looks_are_no_pace(looks: list[tuple[float, int]]) -> None:
    assert math.isnan(pace(looks))


def test_a_ratio_is_taken_turn_by_turn_so_that_a_disturbed_turn_disturbs_both() -> None:
    """Medians would say 5.0: the second turn was slow for both, the ratio was 2 all along."""
    ours, other = Series([1000.0, 200.0, 1000.0]), Series([500.0, 100.0, 500.0])
    assert ratio_of(ours, other) == 2
    assert ratio_of(Series([1000.0, 200.0, 900.0]), Series([200.0, 100.0, 450.0])) == 2


def test_the_table_has_medians_ranges_and_how_often_each_goes_into_ours() -> None:
    (mine, theirs) = table({"larkfield": Series([30.0, 10.0, 20.0]), "peer": Series([3.0, 1.0, 2.0])}, "larkfield")
    assert (mine["median"], mine["least"], mine["most"], mine["ours is"]) == (20, 10, 30, 1)
    assert (theirs["median"], theirs["ours is"]) == (2, 10)


# --- a contestant ---------------------------------------------------------------------------------------------------


class Paper:
    """A queue that does `speed` jobs between two looks, depending on its variant."""

    name = title = "paper"
    look_seconds = 0.001
    guess = 1000
    variants: tuple[str, ...] = ("slow", "fast")

    def __init__(self) -> None:
        self.speed, self.waiting, self.running = 10, 0, False

    def choose(self, variant: str) -> None:
        self.speed = {"slow": 10, "fast": 100}[variant]

    def fill(self, count: int) -> None:
        self.waiting += count

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def moments(self, count: int) -> list[float]:
        return []

    def fallen(self) -> str:
        return ""

    def left(self) -> int:
        if self.running:
            self.waiting = max(0, self.waiting - self.speed)
        return self.waiting

    def trickle(self, count: int) -> Any:
        raise AssertionError("not asked for")


def test_the_first_pass_keeps_the_fastest_variant_and_knows_how_many_jobs_last() -> None:
    paper = Paper()
    count, paces = warm(paper, seconds=0.1)
    assert paces["fast"] > paces["slow"] > 0
    assert paper.speed == 100
    assert count == max(200, round(paces["fast"] * 0.1))


def test_a_pass_leaves_no_worker_running_even_when_looking_fails() -> None:
    paper = Paper()
    assert rate(paper, 1000) > 0
    assert not paper.running

    def fail() -> int:
        raise ConnectionError

    paper.left = fail  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        rate(paper, 10)
    assert not paper.running


def test_batches_are_the_whole_count_in_parts() -> None:
    assert batches(2500, 1000) == [1000, 1000, 500]
    assert batches(0, 1000) == []


# --- verdicts -------------------------------------------------------------------------------------------------------


def test_work_is_judged_against_each_peer_by_the_table_of_targets() -> None:
    paces = {
        "larkfield": 4400.0, OURS: 2000.0, "larkfield answer.rated": 1500.0, "procrastinate": 700.0,
        "django_tasks_db": 600.0, "celery_durable": 560.0, "pgqueuer": 5600.0, "awa": 4000.0, "bare": 6000.0,
    }  # fmt: skip
    found = work.figures({name: Series([pace]) for name, pace in paces.items()}, dict.fromkeys(paces, "cores"))
    assert figure(found, "jobs over procrastinate").reached is True
    assert figure(found, "jobs over django_tasks_db").reached is False
    assert figure(found, "jobs over pgqueuer").reached is False
    assert figure(found, "jobs over awa").reached is True
    assert figure(found, "events over celery_durable").reached is False
    assert figure(found, "jobs over bare").target is None
    assert figure(found, "no-op jobs, one worker process").how == "cores"


def test_every_peer_with_a_target_is_in_the_table_and_says_its_settings_and_what_it_leaves_out() -> None:
    assert work.TARGETS.keys() <= {peer.name for peer in PEERS}
    assert all(peer.settings and peer.leaves_out for peer in PEERS)
    assert all((peer.left is None) == (peer.log is not None) for peer in PEERS)


def test_pick_up_is_judged_by_its_bound_and_by_procrastinate() -> None:
    found = pickup.figures({OURS: Series([4.0]), "procrastinate": Series([3.0])}, {OURS: Series([9.0])})
    assert figure(found, "accepted to claimed").reached is True
    assert figure(found, "over procrastinate's").reached is False


def test_admission_is_judged_at_each_number_of_connections() -> None:
    rates = {"drf": 1000.0, "event": 950.0, "upload": 500.0, "refused": 2900.0}
    results = {(name, connections): Series([rate]) for name, rate in rates.items() for connections in (8, 32)}
    found = admission.figures(results, dict.fromkeys(results, "cores"))
    assert len(found) == 6
    assert figure(found, "events accepted over the DRF view, 32").reached is True
    assert figure(found, "uploads accepted over the DRF view, 8").reached is False
    assert figure(found, "refused when full over accepted, 8").reached is True


def test_memory_is_flat_when_its_last_third_is_like_its_first() -> None:
    assert Memory({}, [100.0, 101.0, 103.0, 104.0, 101.0, 100.0]).growth() == pytest.approx(1.0)
    assert Memory({}, [100.0, 100.0, 150.0, 150.0, 200.0, 200.0]).growth() == 2
    assert math.isnan(Memory({}, [100.0]).growth())


# --- what is kept, and the page ---------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A full run of `work`, a newer short one, and a short one of `idle` alone."""
    rows = [
        {"who": "Larkfield, no-op jobs", **Series([5.0, 4.0]).as_json()},
        {"who": "pgqueuer", **Series([2.0, 1.0]).as_json()},
    ]
    found = Found(
        [Figure("jobs over pgqueuer", 2.5, "×", "≥ 6", "5 / 2"), Figure("no number", math.nan, "/s", "≥ 1")],
        {"tables": {"Jobs a second": rows}}, ["pgqueuer | a note"], {"work-passes": [{"who": "x", "jobs/s": [1.0]}]},
        {}, {"rules": 8, "broken": {}},
    )  # fmt: skip
    for folder, what, short in (
        ("2026-11-30-1", "work", False),
        ("2026-11-30-2", "work", True),
        ("2026-11-30-3", "idle", True),
    ):
        results.write(
            what, found, Clock(), tmp_path / folder, f"python -m loadtests.bench {what}", short=short, passes=2
        )
    return tmp_path


def test_a_run_keeps_json_rows_and_charts(kept: Path) -> None:
    names = sorted(path.name for path in (kept / "2026-11-30-1").iterdir())
    assert names == ["work-1.svg", "work-passes.jsonl", "work.json"]
    one = json.loads((kept / "2026-11-30-1" / "work.json").read_text())
    assert one["machine"]["cores"]
    assert one["figures"][1]["value"] is None
    svg = (kept / "2026-11-30-1" / "work-1.svg").read_text()
    assert svg.startswith("<svg")
    assert "Larkfield, no-op jobs" in svg


def test_the_page_shows_the_newest_full_run_and_a_short_one_only_where_there_is_no_other(kept: Path) -> None:
    runs = results.newest(kept)
    assert runs["work"][0] == "2026-11-30-1"
    assert runs["idle"][0] == "2026-11-30-3"
    text = page.page(runs)
    assert "| jobs over pgqueuer | 2.5 × | ≥ 6 | MISSED | 5 / 2 |" in text
    assert "| no number | – /s | ≥ 1 | MISSED |" in text
    assert "](../loadtests/results/bench/2026-11-30-1/work-1.svg)" in text
    assert text.count("A short run") == 1
    assert "8 rules checked, 0 broken" in text


def test_a_bar_stands_between_its_range_and_never_escapes_the_picture() -> None:
    svg = bars("Jobs <a> second", [Bar("ours & theirs", 50.0, 40.0, 90.0, is_ours=True), Bar("none", 0.0, 0.0, 0.0)])
    assert "Jobs &lt;a&gt; second" in svg
    assert "ours &amp; theirs" in svg
    assert svg.count("<rect") == 2


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_measures_all_five_times_and_once_when_short() -> None:
    assert (parse_arguments([]).what, parse_arguments([]).passes) == ([], 5)
    assert parse_arguments(["work", "--short"]).passes == 1
    assert parse_arguments(["--short", "--passes", "2"]).passes == 2
    assert MEASURES.keys() == page.HEADINGS.keys()
    for wrong in (["nothing"], ["--passes", "0"]):
        with pytest.raises(SystemExit):
            parse_arguments(wrong)


def test_each_peer_is_pinned() -> None:
    assert {
        "procrastinate",
        "django-tasks-db",
        "celery",
        "dramatiq",
        "pgqueuer",
        "awa-pg",
    } <= peers_environment.versions().keys()


def test_a_worker_empties_the_queue_and_picks_single_events_up_on_the_real_product() -> None:
    """A pass of the recorded runs, small, so that the bench never rots."""
    with installed(SETTINGS, workers=0) as stage:
        jobs = JobRun(stage, stage.caller("bench", "produce,operate"))
        events = ProductRun(stage, jobs.headers)
        events.fill(20)
        assert rate(jobs, 2000) > 0
        assert jobs.left() == 0
        events.start()
        assert len(events.trickle(2).ran) == 2
        events.stop()
        jobs.take_away()
        found = stage.reconcile()
    assert found["rules"] > 0
    assert found["broken"] == {}
