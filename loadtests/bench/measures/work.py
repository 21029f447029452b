"""No-op jobs a second by one worker: the product, its peers and the bare database, in turns; then one is killed."""

from typing import Any

from loadtests.bench import peers_environment
from loadtests.bench.contestant import PEERS, Contestant
from loadtests.bench.cores import Cores, said
from loadtests.bench.noop import NOOP
from loadtests.bench.peer_runs import PeerRun
from loadtests.bench.product import RATED, SETTINGS, JobRun, ProductRun, publish_document
from loadtests.bench.turns import Series, ratio_of, table
from loadtests.bench.working import rate, warm, watch
from loadtests.installation import Installation, installed
from loadtests.recording import Figure, Found, say, shown

SECONDS, SHORT_SECONDS = 5.0, 1.5
TARGETS = {
    "procrastinate": "≥ 6", "django_tasks_db": "≥ 8", "celery_durable": "≥ 6", "pgqueuer": "≥ 1", "awa": "≥ 1",
}  # fmt: skip
# A killed worker's jobs come back when its lease ends: soon, here.
SHORT_LEASE = {"LEASE_SECONDS": "4", "HEARTBEAT_SECONDS": "1", "PROVIDER_TIMEOUT_SECONDS": "2"}
# Effects of accepted events, those that were applied more than once, and events without one.
EFFECTS = """
SELECT (SELECT count(*) FROM ingestion_eventeffect), (SELECT count(*) FROM ingestion_eventrecord),
       (SELECT COALESCE(sum(ratings), 0)::bigint FROM ingestion_usageday),
       (SELECT count(*) FROM ingestion_eventrecord WHERE type = 'answer.rated')
"""


def measure(*, passes: int, short: bool, only: tuple[str, ...] = ()) -> Found:
    """Paces of all, in turns; `only` names the peers that take part (all)."""
    seconds = SHORT_SECONDS if short else SECONDS
    with installed(SETTINGS, workers=0) as stage:
        ours = JobRun(stage, stage.caller("bench", "upload,produce,operate"))
        events, rated = ProductRun(stage, ours.headers), ProductRun(stage, ours.headers, RATED)
        publish_document(ours)
        chosen = [peer for peer in PEERS if not only or peer.name in only]
        python = peers_environment.python() if chosen else None
        contestants: list[Contestant] = [ours, events, rated]
        contestants += [PeerRun(stage, peer, python) for peer in chosen if python is not None]
        counts, variants = _warm(contestants, seconds)
        results = _turns(contestants, counts, passes)
        limits = {one.name: _limit(stage, one, counts[one.name]) for one in (ours, events, rated)}
        killed = _kill_one(rated, counts[rated.name])
        ours.take_away()
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
    found.figures = [*figures(results, limits), *killed]
    found.facts = {
        "tables": {"Jobs a second, one worker": _rows(contestants, results)},
        "variants tried, jobs/s": variants, "peers": peers_environment.versions(),
    }  # fmt: skip
    found.rows = {"work-passes": [{"who": name, "jobs/s": series.passes} for name, series in results.items()]}
    found.notes = [f"{peer.title}: {peer.settings}. {peer.leaves_out}" for peer in chosen]
    found.notes.append(
        "Larkfield: one `runworker` as shipped, 64 partitions. A no-op job is claimed, run and settled, as the peers' "
        "are; a no-op event (`bench.noop`) is kept with its identity besides, and its effect's identity, its "
        "partition's checkpoint and its settlement commit together."
    )
    return found


def _warm(contestants: list[Contestant], seconds: float) -> tuple[dict[str, int], dict[str, dict[str, float]]]:
    counts, variants = {}, {}
    for one in contestants:
        counts[one.name], paces = warm(one, seconds)
        say(f"  warm  {one.title}: {', '.join(f'{name} {shown(pace)}/s' for name, pace in paces.items())}")
        if len(paces) > 1:
            variants[one.name] = {name: round(pace, 1) for name, pace in paces.items()}
    return counts, variants


def _turns(contestants: list[Contestant], counts: dict[str, int], passes: int) -> dict[str, Series]:
    results = {one.name: Series([]) for one in contestants}
    for number in range(passes):
        for one in contestants:
            results[one.name].passes.append(rate(one, counts[one.name]))
            say(f"  pass {number + 1}  {one.title}: {shown(results[one.name].passes[-1])}/s")
    return results


def _limit(stage: Installation, ours: ProductRun, count: int) -> str:
    """Who takes the cores while our worker works, over the middle of one pass."""
    ours.fill(count)
    ours.start()
    try:
        watch(ours, 60, until_left=round(count * 0.9))
        assert ours.worker is not None
        cores = Cores({"worker": ours.worker.process.pid, "PostgreSQL": stage.postmaster()})
        watch(ours, 60, until_left=round(count * 0.2))
        used = cores.used()
        watch(ours, 60)
    finally:
        ours.stop()
    return said(used)


def _kill_one(rated: ProductRun, count: int) -> list[Figure]:
    """A worker is killed in the middle; after another has finished, each accepted event has one effect."""
    rated.fill(count)
    rated.start(SHORT_LEASE)
    try:
        watch(rated, 60, until_left=count // 2)
        rated.kill()
        left = rated.left()
        rated.start(SHORT_LEASE)
        watch(rated, 120)
    finally:
        rated.stop()
    effects, records, ratings, rated_events = rated.rows(EFFECTS)[0]
    how = f"killed with {left} of {count} events left; {effects} effects of {records} accepted events"
    return [
        Figure("events without their one effect after a killed worker", abs(records - effects), "", "= 0", how),
        Figure("ratings counted twice or never after it", abs(ratings - rated_events), "", "= 0",
               f"{ratings} counted, {rated_events} accepted"),
    ]  # fmt: skip


def figures(results: dict[str, Series], limits: dict[str, str]) -> list[Figure]:
    """The paces of ours with what limits them, and their ratios to the peers'."""
    jobs, events = results["larkfield"], results[f"larkfield {NOOP}"]
    found = [
        Figure("no-op jobs, one worker process", jobs.median, "/s", None, limits["larkfield"]),
        Figure("no-op events, one worker process", events.median, "/s", None, limits[f"larkfield {NOOP}"]),
        Figure("answer.rated with its projection, one worker process", results[f"larkfield {RATED}"].median, "/s",
               None, limits[f"larkfield {RATED}"]),
    ]  # fmt: skip
    for name, series in results.items():
        if name.startswith("larkfield"):
            continue
        for words, ours in (("jobs", jobs), ("events", events)):
            how = f"{shown(ours.median)} / {shown(series.median)}; median of the turns' ratios"
            found.append(Figure(f"no-op {words} over {name}", ratio_of(ours, series), "×", TARGETS.get(name), how))
    return found


def _rows(contestants: list[Contestant], results: dict[str, Series]) -> list[dict[str, Any]]:
    titles = {one.name: one.title for one in contestants}
    kept = ("median", "least", "most", "ours is")
    return [{"who": titles[row["who"]], **{key: row[key] for key in kept}} for row in table(results, "larkfield")]
