"""What goes wrong in a fault run, each kind by its own function; when and in which order is drawn from the seed."""

import heapq
import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable

import psycopg

from larkfield.launch.children import Child
from loadtests.faults_product import SETTINGS, Stage

LEASE_SECONDS = float(SETTINGS["LEASE_SECONDS"])
MALFORMED = ("error_body_200", "short", "duplicate_index", "nan", "zero", "wrong_dimension", "shuffled")
PATHS = ("embeddings", "chat/completions")
SHORTEST_GAP_SECONDS, LONGEST_GAP_SECONDS = 1.0, 5.0
CUT = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE %s"


class Faults:
    """Causes one fault after the other; `tick` does what is due, `cease` ends all that still last."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.counts: Counter[str] = Counter()
        # When the database was cut or crashed, by the wall clock: explains answers that could not be saved.
        self.database_moments: list[float] = []
        self.exits: Counter[str] = Counter()
        self._random = random.Random(f"faults:{seed}")
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._is_ending = False
        self._next_at = time.monotonic() + SHORTEST_GAP_SECONDS
        self._bag: list[Callable[[], None]] = []

    def tick(self) -> None:
        """Ends that are due come first, then a new fault if it is time for one."""
        self._run_due()
        self._replace_workers()
        if time.monotonic() >= self._next_at:
            self._draw()()
            self._next_at = time.monotonic() + self._random.uniform(SHORTEST_GAP_SECONDS, LONGEST_GAP_SECONDS)

    def cease(self) -> None:
        """Everything that still lasts has ended: nothing is stopped, the provider is well, all workers run."""
        self._is_ending = True
        self._run_due()
        self.stage.control("mode", {"mode": "normal"})
        self._replace_workers()

    def keep(self) -> None:
        """After `cease`: a worker that ends late is still replaced."""
        self._run_due()
        self._replace_workers()

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), action))

    def _run_due(self) -> None:
        while self._due and (self._is_ending or self._due[0][0] <= time.monotonic()):
            heapq.heappop(self._due)[2]()

    def _draw(self) -> Callable[[], None]:
        """Each kind once before any comes again, in a drawn order, so that a short run has all of them."""
        if not self._bag:
            self._bag = [
                self._kill_worker, self._kill_worker, self._stop_worker, self._stop_worker, self._drain_worker,
                self._cut_sessions, self._crash_database, self._restart_valkey, self._outage, self._flaky,
                self._timeouts, self._cut_calls, self._malformed, self._rate_limits,
            ]  # fmt: skip
            self._random.shuffle(self._bag)
        return self._bag.pop()

    # --- workers ---

    def _replace_workers(self) -> None:
        for name, code in self.stage.take_ended():
            self.exits[str(code)] += 1
            self._later(self._random.uniform(0, 1.5), lambda name=name: self.stage.start_worker(name))  # type: ignore[misc]

    def _worker(self) -> Child | None:
        running = [child for child in self.stage.workers.values() if child is not None and not child.has_ended()]
        return self._random.choice(running) if running else None

    def _kill_worker(self) -> None:
        if worker := self._worker():
            worker.signal(signal.SIGKILL)
            self.counts["worker_killed"] += 1

    def _stop_worker(self) -> None:
        """Sometimes for less than its lease, sometimes beyond it."""
        if worker := self._worker():
            worker.signal(signal.SIGSTOP)
            self._later(self._random.uniform(0.5, 2.5 * LEASE_SECONDS), lambda: worker.signal(signal.SIGCONT))
            self.counts["worker_stopped_and_continued"] += 1

    def _drain_worker(self) -> None:
        if worker := self._worker():
            worker.signal(signal.SIGTERM)
            self.counts["worker_drained"] += 1

    # --- database and cache ---

    def _cut_sessions(self) -> None:
        whose = self._random.choice(["worker-%", "api"])
        try:
            cut = self.stage.rows(CUT, whose)[0][0]
        except psycopg.Error:
            return
        self.database_moments.append(time.time())
        self.counts["database_sessions_cut"] += int(cut)

    def _crash_database(self) -> None:
        number = self._random.choice([signal.SIGKILL, signal.SIGQUIT])
        self.database_moments.append(time.time())
        os.kill(self.stage.postmaster(), number)
        self.stage.revive_database()
        self.database_moments.append(time.time())
        self.counts["database_crashed_and_restarted"] += 1

    def _restart_valkey(self) -> None:
        os.kill(self.stage.valkey_process(), self._random.choice([signal.SIGKILL, signal.SIGTERM]))
        self.stage.revive_valkey()
        self.counts["valkey_restarted"] += 1

    # --- the provider ---

    def _mode(self, mode: str, longest: float) -> None:
        self.stage.control("mode", {"mode": mode})
        self._later(self._random.uniform(1, longest), lambda: self.stage.control("mode", {"mode": "normal"}))

    def _outage(self) -> None:
        self._mode("outage", 6)
        self.counts["provider_outage"] += 1

    def _flaky(self) -> None:
        self._mode("flaky", 4)
        self.counts["provider_flaky"] += 1

    def _order(self, path: str, fault: str, most: int) -> int:
        times = self._random.randint(1, most)
        self.stage.control("faults", [{"path": path, "fault": fault, "times": times}])
        return times

    def _timeouts(self) -> None:
        self.counts["provider_timeout"] += self._order(self._random.choice(PATHS), "timeout", 3)

    def _cut_calls(self) -> None:
        self.counts["provider_call_cut"] += self._order(self._random.choice(PATHS), "disconnect", 4)

    def _malformed(self) -> None:
        for fault in self._random.sample(MALFORMED, 2):
            self.counts["provider_malformed_answer"] += self._order("embeddings", fault, 1)
        self.counts["provider_malformed_answer"] += self._order("chat/completions", "error_body_200", 1)

    def _rate_limits(self) -> None:
        self.counts["provider_429"] += self._order(self._random.choice(PATHS), "status:429", 3)
