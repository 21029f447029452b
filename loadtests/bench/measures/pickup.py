"""How soon an idle worker takes a job: one at a time, at any phase of a poll, the product and its peers in turns."""

from collections.abc import Iterable
from typing import Any

from loadtests.bench import peers_environment
from loadtests.bench.contestant import PEERS, Contestant, Waits
from loadtests.bench.noop import NOOP
from loadtests.bench.peer_runs import PeerRun
from loadtests.bench.product import SETTINGS, ProductRun
from loadtests.bench.turns import Series, ratio_of
from loadtests.installation import installed
from loadtests.percentiles import median
from loadtests.recording import Figure, Found, say, shown

COUNT, SHORT_COUNT = 40, 10
# The first jobs of a worker also wait for its start and its first connections.
WARM = 2
# Its log makes no difference to a job at a time; the durable one takes part.
SKIPPED = {"celery"}
OURS = f"larkfield {NOOP}"


def measure(*, passes: int, short: bool, only: tuple[str, ...] = ()) -> Found:
    """Medians of each pass, in turns; `only` names the peers that take part (all)."""
    count = SHORT_COUNT if short else COUNT
    with installed(SETTINGS, workers=0) as stage:
        ours = ProductRun(stage, stage.caller("bench", "upload,produce,operate"))
        chosen = [peer for peer in PEERS if peer.name not in SKIPPED and (not only or peer.name in only)]
        contestants: list[Contestant] = [ours]
        contestants += [PeerRun(stage, peer, peers_environment.python()) for peer in chosen]
        claimed, ran = _turns(contestants, passes, count)
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
    found.figures = figures(claimed, ran)
    found.facts = {
        "tables": {"Sent to running in ms, one job at a time": list(_rows(contestants, claimed, ran))},
        "peers": peers_environment.versions(),
    }
    found.notes = [
        "Accepted to claimed is what the queue's own rows say (procrastinate's events, pgqueuer's log, the columns of "
        "the others); on Valkey there are no rows.",
        "Sent to running is one clock over both processes, from before the call that enqueues: for Larkfield that is "
        "an HTTP request with a token, its bound and its limits; for the peers a call of their library.",
    ]
    return found


def _turns(contestants: list[Contestant], passes: int, count: int) -> tuple[dict[str, Series], dict[str, Series]]:
    claimed = {one.name: Series([]) for one in contestants}
    ran = {one.name: Series([]) for one in contestants}
    for number in range(passes):
        for one in contestants:
            waits = _pass(one, count)
            if waits.claimed:
                claimed[one.name].passes.append(median(waits.claimed))
            ran[one.name].passes.append(median(waits.ran))
            say(f"  pass {number + 1}  {one.title}: {shown(ran[one.name].passes[-1])} ms sent to running")
    return {name: series for name, series in claimed.items() if series.passes}, ran


def _pass(one: Contestant, count: int) -> Waits:
    one.start()
    try:
        one.trickle(WARM)
        return one.trickle(count)
    finally:
        one.stop()


def figures(claimed: dict[str, Series], ran: dict[str, Series]) -> list[Figure]:
    """Ours against its bound and against procrastinate's."""
    ours = claimed[OURS]
    found = [
        Figure("pick-up by an idle worker, accepted to claimed, median", ours.median, "ms", "≤ 5", "database's clock"),
        Figure("sent over HTTP to its effect being applied, median", ran[OURS].median, "ms"),
    ]
    if "procrastinate" in claimed:
        how = f"{shown(ours.median)} / {shown(claimed['procrastinate'].median)} ms; median of the turns' ratios"
        ratio = ratio_of(ours, claimed["procrastinate"])
        found.append(Figure("pick-up over procrastinate's", ratio, "×", "≤ 1", how))
    return found


def _rows(
    contestants: list[Contestant], claimed: dict[str, Series], ran: dict[str, Series]
) -> Iterable[dict[str, Any]]:
    for one in contestants:
        mine = claimed.get(one.name)
        both = ran[one.name].as_json()
        yield {
            "who": one.title, "accepted to claimed": round(mine.median, 2) if mine else "–",
            "median": both["median"], "least": both["least"], "most": both["most"],
        }  # fmt: skip
