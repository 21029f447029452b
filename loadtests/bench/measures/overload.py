"""Ten times the best rate is offered: how much is still finished, and whether memory stays flat."""

import threading
import time
from dataclasses import dataclass, field

import psutil

from loadtests import k6
from loadtests.bench.product import SETTINGS, ProductRun
from loadtests.bench.turns import Series, ratio_of
from loadtests.installation import Installation, installed
from loadtests.percentiles import median
from loadtests.recording import Figure, Found, say, shown

# The bound is the shipped one: what is beyond it is refused.
SHIPPED = {name: value for name, value in SETTINGS.items() if not name.startswith("EVENTS_QUEUE")}
# A downstream that takes so many a second, as the flood's does; and none, where the cores are the limit.
PACED = 100
SECONDS, SHORT_SECONDS = 15, 5
TIMES = 10
CONNECTIONS, MANY = 8, 256
DONE = "SELECT count(*) FROM ingestion_job WHERE queue = 'events' AND state = 'succeeded'"
FLAT = 1.1


@dataclass
class Memory:
    """Resident MiB of programs, looked at while the block lasts."""

    pids: dict[str, int]
    looks: list[float] = field(default_factory=list)

    def __enter__(self) -> "Memory":
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.looks.append(sum(resident(pid) for pid in self.pids.values()))

    def growth(self) -> float:
        """The last third over the first, which is 1 where memory is flat; nan of too few looks."""
        third = len(self.looks) // 3
        return median(self.looks[-third:]) / median(self.looks[:third]) if third else float("nan")


def resident(pid: int) -> float:
    """MiB of a process and all below it."""
    try:
        process = psutil.Process(pid)
        return float(sum(one.memory_info().rss for one in [process, *process.children(recursive=True)]) / 2**20)
    except psutil.NoSuchProcess:
        return 0.0


def measure(*, passes: int, short: bool) -> Found:
    """Goodput at the best rate and at ten times it, in turns: with a slow downstream, and with none."""
    seconds = SHORT_SECONDS if short else SECONDS
    found = Found()
    for paced in (PACED, 0):
        settings = {**SHIPPED, "EVENT_COMPLETIONS_PER_SECOND": str(paced)}
        with installed(settings, workers=0) as stage:
            run = ProductRun(stage, stage.caller("bench", "produce,operate"))
            run.start()
            try:
                found.figures += _turns(stage, run, paced, passes, seconds, found)
            finally:
                run.stop()
            found.settings, checked = stage.settings, stage.reconcile()
        broken = {**found.reconcile.get("broken", {}), **checked["broken"]}
        found.reconcile = {"rules": checked["rules"], "broken": broken}
    found.notes = [
        f"k6 offers single events at an open rate; the bound is the shipped one (300). With a downstream of {PACED} a "
        f"second the best rate is that; without one the best rate is what {CONNECTIONS} connections get through API "
        "and worker, and at ten times it k6, API, worker and PostgreSQL share the cores: k6's own work is part of the "
        "loss.",
    ]
    return found


def _turns(stage: Installation, run: ProductRun, paced: int, passes: int, seconds: int, found: Found) -> list[Figure]:
    token = run.headers["Authorization"].split()[1]
    words = f"downstream of {paced}/s" if paced else "no downstream"
    warmed = _offer(stage, run, token, paced or None, 2, "warm")
    best, flood, offered = Series([]), Series([]), []
    assert run.worker is not None
    with Memory({"api": stage.api_process.process.pid, "worker": run.worker.process.pid}) as memory:
        for number in range(passes):
            best.passes.append(_offer(stage, run, token, paced or None, seconds, f"best-{number}").goodput)
            rate = TIMES * (paced or round(max(warmed.goodput, best.median)))
            pressed = _offer(stage, run, token, rate, seconds, f"flood-{number}")
            flood.passes.append(pressed.goodput)
            offered.append(pressed.offered)
            say(f"  pass {number + 1}  {words}: best {shown(best.passes[-1])}/s, at {shown(pressed.offered)}/s "
                f"offered {shown(flood.passes[-1])}/s")  # fmt: skip
    found.rows[f"memory-{paced or 'none'}"] = [{"MiB": round(look, 1)} for look in memory.looks]
    arrived = median(offered)
    how = (
        f"{shown(flood.median)} / {shown(best.median)} a second; {shown(TIMES * best.median)}/s were to be offered, "
        f"{shown(arrived)}/s arrived on {MANY} connections"
    )
    return [
        Figure(f"goodput at ten times over the best, {words}", ratio_of(flood, best), "×", "≥ 0.95", how),
        Figure(f"memory of API and worker, last third over first, {words}", memory.growth(), "×", f"≤ {FLAT}",
               f"{shown(memory.looks[0])} MiB at first, {shown(memory.looks[-1])} MiB at last"),
    ]  # fmt: skip


@dataclass(frozen=True)
class Offered:
    """Events finished and requests answered, a second."""

    goodput: float
    offered: float


def _offer(stage: Installation, run: ProductRun, token: str, rate: int | None, seconds: int, name: str) -> Offered:
    """An open rate, or as fast as a few connections go; the events finished meanwhile."""
    attack = k6.Attack(
        "../bench/offer.js",
        {"URL": f"{stage.api_url}/v1/events", "TOKEN": token, "SECONDS": seconds, "PASS": name,
         "RATE": rate or 0, "VUS": CONNECTIONS if rate is None else MANY},
    )  # fmt: skip
    began, before = time.monotonic(), int(run.rows(DONE)[0][0])
    metrics = attack.finish(seconds)
    done, passed = int(run.rows(DONE)[0][0]) - before, time.monotonic() - began
    return Offered(done / passed, k6.count(metrics, "http_reqs") / passed)
