"""The coordinator: claims what free slots and open lanes allow, sweeps, and drains when it is told to.

It runs no job itself. Each free slot is a thread that runs one claim, or a partition's run of claims in order.
"""

import logging
import math
import os
import random
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings

from ingestion import connections, jobs
from ingestion.models import Worker
from ingestion.queue import sweeping
from ingestion.queue.claims import Claim, claim, claim_partitions
from ingestion.worker import lanes
from ingestion.worker.leases import FAILURES, Leases
from ingestion.worker.listening import Listener, Noted
from ingestion.worker.running import TOGETHER_MAX, give_back, run_in_order
from ingestion.worker.signals import Stopping

log = logging.getLogger("ingestion.worker")

# Behind the notifications: how long new work can go unseen when one is missed.
POLL_SECONDS = 1.0
PAUSE_AFTER_FAILURE_SECONDS = 1.0
# Events that are claimed for a free thread, and the fewest partitions that one claim looks at: short runs of many
# partitions are settled together.
RUN_LENGTH_MAX = 50
PARTITIONS_MAX = 64


def worker_name() -> str:
    """Unique while the process lives; tells host and process to a person."""
    return f"{socket.gethostname()[:32]}-{os.getpid()}-{random.getrandbits(24):06x}"


def bundles(runs: list[list[Claim]], most: int) -> list[list[Claim]]:
    """The runs in at most `most` lists (one more a further kind), short ones joined: what one thread settles together.

    A run is never divided, so that the order of its partition holds.
    """
    found: list[list[Claim]] = []
    enough = max(TOGETHER_MAX, math.ceil(sum(map(len, runs)) / max(1, most)))
    for run in sorted(runs, key=lambda run: run[0].kind):
        if found and found[-1][0].kind == run[0].kind and len(found[-1]) < enough:
            found[-1] += run
        else:
            found.append(list(run))
    return found


class Loop:
    """One worker process. `run` returns its exit code."""

    def __init__(self, queues: list[str], concurrency: int, drain_seconds: float, *, once: bool = False) -> None:
        self.queues, self.concurrency = queues, concurrency
        self.drain_seconds, self.once = drain_seconds, once
        self.name = worker_name()
        self.wake = threading.Event()
        self.stopping = Stopping(self.wake)
        self.leases = Leases(self.name, queues, concurrency)
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="job")
        self._busy = 0
        self._lock = threading.Lock()
        self._swept_at = float("-inf")
        self._next_at = 0.0
        # The queue of the latest notification: what has just come is looked for first.
        self._noted = Noted()

    def run(self) -> int:
        listener = Listener(self.wake, self._noted)
        self.leases.beat()
        self.leases.start()
        listener.start()
        log.info("worker started", extra={"worker": self.name, "queues": ",".join(self.queues)})
        try:
            while not (self.stopping.is_asked or self.leases.is_doubtful.is_set()):
                self.wake.clear()
                found = self._tick()
                if self.once and not found and not self._busy:
                    break
                if not found or self._free() == 0:
                    self.wake.wait(self._pause_seconds())
            return self._end()
        finally:
            listener.stop()
            self.leases.stop()

    def _free(self) -> int:
        return max(0, self.concurrency - self._busy)

    def _tick(self) -> int:
        """One sweep if it is due, then one claim for each queue; a database that is away is met with a pause."""
        self._next_at = 0.0
        try:
            with connections.brief():
                self._sweep()
                first = self._noted.queue
                queues = sorted(self.queues, key=lambda queue: queue != first)
                return sum(self._claim(queue) for queue in queues if self._free())
        except FAILURES as error:
            log.warning("the database does not answer", extra={"error": type(error).__name__})
            self._next_at = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
            return 0

    def _pause_seconds(self) -> float:
        """Until the next poll, with jitter so that workers don't come in step; sooner when a lane opens sooner."""
        poll = POLL_SECONDS * random.uniform(0.8, 1.2)
        return min(poll, max(0.005, self._next_at - time.monotonic())) if self._next_at else poll

    def _unserved(self) -> Counter[str]:
        return Counter(held.lane for held in self.leases.held() if not held.served.is_set())

    def _look_again_at(self, moment: float) -> None:
        """The next tick comes no later than `moment` (monotonic; 0: no matter)."""
        if moment:
            self._next_at = min(self._next_at or moment, moment)

    def _sweep(self) -> None:
        """Rescue and ends of waiting jobs, at the latest one third of a lease after they are due."""
        if time.monotonic() - self._swept_at < min(5.0, settings.LEASE_SECONDS / 3):
            return
        self._swept_at = time.monotonic()
        for job_id, state, worker in sweeping.rescue():
            log.warning("lease ran out", extra={"job": job_id, "state": state, "lost_by": worker})
        sweeping.expire()
        sweeping.end_long_waits(lanes.blocked_since())

    def _claim(self, queue: str) -> int:
        kinds = jobs.kinds_of(queue)
        if queue == "events":
            return self._claim_events(list(kinds))
        started = 0
        plan = lanes.plan(self._free(), self._unserved())
        self._look_again_at(plan.next_at)
        for lane, room in plan.rooms:
            limit = min(room, plan.most - started)
            found = claim(queue, kinds, lane=lane, limit=limit, worker=self.name) if limit > 0 else []
            for one in found:
                self._start([one])
            started += len(found)
        return started

    def _claim_events(self, kinds: list[str]) -> int:
        budget, next_at = lanes.completions(self._free() * RUN_LENGTH_MAX)
        self._look_again_at(next_at)
        if budget < 1:
            return 0
        partitions = min(budget, max(self._free(), PARTITIONS_MAX))
        runs = claim_partitions("events", kinds, limit=budget, partitions=partitions, worker=self.name)
        for bundle in bundles(list(runs.values()), most=self._free()):
            self._start(bundle)
        found = sum(len(run) for run in runs.values())
        lanes.return_completions(budget - found)
        return found

    def _start(self, run: list[Claim]) -> None:
        for one in run:
            self.leases.hold(one)
        with self._lock:
            self._busy += 1
        self._threads.submit(self._work, run)

    def _work(self, run: list[Claim]) -> None:
        try:
            run_in_order(run, jobs.KINDS[run[0].kind], self.leases.let_go)
        except Exception:
            # Not settled: the lease ends and another worker takes it. Nothing else may fall with it.
            log.exception("a job thread failed", extra={"job": run[0].id})
            for one in run:
                self.leases.let_go(one)
        finally:
            with self._lock:
                self._busy -= 1
            self.wake.set()

    def _end(self) -> int:
        """No new claims; what runs gets its time, the rest is given back. 0 unless leases could not be proven."""
        log.info("worker drains", extra={"worker": self.name, "busy": self._busy})
        deadline = time.monotonic() + (0.0 if self.leases.is_doubtful.is_set() else self.drain_seconds)
        while self._busy and not self.stopping.is_urgent and time.monotonic() < deadline:
            self.wake.clear()
            self.wake.wait(min(0.5, max(0.0, deadline - time.monotonic())))
        left = self.leases.held()
        for one in left:
            one.lost.set()
        if not self.leases.is_doubtful.is_set():
            give_back(left)
        self._threads.shutdown(wait=False, cancel_futures=True)
        try:
            with connections.brief():
                Worker.objects.filter(name=self.name).delete()
        except FAILURES:
            log.warning("left without saying so; the database does not answer")
        log.info("worker ended", extra={"worker": self.name, "given_back": len(left)})
        return 1 if self.leases.is_doubtful.is_set() else 0
