"""The product as the bench drives it: as it is shipped, filled over HTTP, worked by one `runworker`."""

import sys
from collections.abc import Mapping
from itertools import count as counter
from typing import Any

import httpx
import psycopg

from larkfield.launch.children import Child
from loadtests.bench.contestant import Waits
from loadtests.bench.noop import NOOP
from loadtests.bench.peers.program import trickle
from loadtests.bench.working import rate
from loadtests.installation import Installation
from loadtests.noop_kind import FILL

# No limit of a caller and no bound is met: peers have none. All else is as shipped.
OPEN = {
    "EVENTS_QUEUE_MAX": "1000000", "EVENTS_QUEUE_MAX_UNITS": "1000000000", "EVENTS_QUEUE_MAX_BYTES": "100000000000",
    "EVENTS_PER_MINUTE": "100000000",
}  # fmt: skip
SETTINGS = {**OPEN, "DJANGO_SETTINGS_MODULE": "loadtests.bench.product_settings"}
RATED, DOCUMENT = "answer.rated", "returns"
BATCH, PARTITIONS = 500, 64
LEFT = "SELECT jobs FROM ingestion_queuestate WHERE queue = 'events'"
CLAIMED = """
SELECT extract(epoch FROM started_at - queued_at)::float8 * 1000 FROM ingestion_job
WHERE queue = 'events' ORDER BY sequence DESC LIMIT %s
"""
STRANGE = """
SELECT count(*) FROM ingestion_job AS job
WHERE kind = 'noop' AND (state <> 'succeeded' OR 1 <> (
    SELECT count(*) FROM ingestion_joboutcome AS one WHERE one.job_id = job.id AND one.outcome = 'succeeded'))
"""
TAKE_AWAY = """
WITH gone AS (DELETE FROM ingestion_joboutcome USING ingestion_job AS job WHERE job_id = job.id AND job.kind = 'noop')
DELETE FROM ingestion_job WHERE kind = 'noop'
"""
_numbers = counter(1)


class ProductRun:
    """Events of one type, spread over partitions, for a worker that is started for each pass.

    On the stage's own database and API, or on others that are given.
    """

    look_seconds = 0.05

    def __init__(
        self, stage: Installation, headers: Mapping[str, str], type_: str = NOOP, *, database: str = "", api: str = ""
    ) -> None:
        self.stage, self.headers, self._type = stage, headers, type_
        self.database, self._api = database or stage.database_url, api or stage.api_url
        self.name = f"larkfield {type_}"
        self.title = f"Larkfield, events {type_}"
        self.guess = 5000
        self.variants: tuple[str, ...] = ("",)
        self.worker: Child | None = None
        self._observer = psycopg.connect(self.database, autocommit=True)
        self.stamps = stage.folder / "stamps-larkfield"

    def event(self, sent: float | None = None) -> dict[str, Any]:
        """A new event of this type."""
        number = next(_numbers)
        payload: dict[str, Any] = {} if sent is None else {"sent": sent}
        if self._type == RATED:
            payload = {"answer_id": f"a-{number}", "document": DOCUMENT, "version": 1, "rating": 1 + number % 5}
        return {
            "producer": "bench", "event_id": f"e-{number}", "type": self._type, "payload": payload,
            "occurred_at": "2026-11-27T09:00:00Z", "partition": f"desk-{number % PARTITIONS}",
        }  # fmt: skip

    def choose(self, variant: str) -> None:
        """It is measured as it is shipped: there is nothing to choose."""

    def fill(self, count: int) -> None:
        for start in range(0, count, BATCH):
            self.offer(min(BATCH, count - start))

    def offer(self, count: int) -> None:
        """One batch of new events is accepted."""
        events = [self.event() for _ in range(count)]
        url = f"{self._api}/v1/events/batch"
        _all_accepted(self.stage.api.post(url, json={"events": events}, headers=self.headers))

    def start(self, changes: Mapping[str, str] | None = None) -> None:
        """One `runworker` as shipped, with `changes` of the settings."""
        environment = {
            **self.stage.environment, "DATABASE_URL": f"{self.database}&application_name=worker",
            "BENCH_STAMPS": str(self.stamps), **(changes or {}),
        }  # fmt: skip
        command = [sys.executable, "manage.py", "runworker"]
        self.worker = self.stage.children.start("worker", command, environment, lasting=False)

    def stop(self) -> None:
        if self.worker is not None:
            self.stage.stop_process(self.worker)
            self.worker = None

    def kill(self) -> None:
        """The worker's group is gone at once."""
        assert self.worker is not None
        self.worker.kill()
        self.stop()

    def rows(self, query: str, *values: object) -> list[Any]:
        """What its database says."""
        return self._observer.execute(query.encode(), values or None).fetchall()

    def left(self) -> int:
        return int(self.rows(LEFT)[0][0])

    def moments(self, count: int) -> list[float]:
        return []

    def fallen(self) -> str:
        return self.worker.last_lines() if self.worker is not None and self.worker.has_ended() else ""

    def trickle(self, count: int) -> Waits:
        self.stamps.unlink(missing_ok=True)
        trickle(self._send, count, str(self.stamps))
        ran = [float(line) for line in self.stamps.read_text().splitlines()]
        return Waits([float(row[0]) for row in self.rows(CLAIMED, count)], ran)

    def _send(self, sent: float) -> None:
        url = f"{self._api}/v1/events"
        self.stage.api.post(url, json=self.event(sent), headers=self.headers).raise_for_status()


class JobRun(ProductRun):
    """Jobs that do nothing at all: what the queue costs, as the peers' no-ops do. Filled by SQL, as admission does."""

    def __init__(self, stage: Installation, headers: Mapping[str, str], **places: str) -> None:
        super().__init__(stage, headers, **places)
        self.name, self.title, self.guess = "larkfield", "Larkfield, no-op jobs", 8000

    def fill(self, count: int) -> None:
        caller = self.rows("SELECT id FROM ingestion_caller ORDER BY id LIMIT 1")[0][0]
        with self._observer.transaction():
            self._observer.execute(FILL.encode(), {"caller": caller, "count": count, "partitions": PARTITIONS})

    def empty(self) -> None:
        """Everything that waited is done, and the no-op jobs are gone."""
        rate(self, 0)
        self.take_away()

    def take_away(self) -> None:
        """The no-op jobs are gone: they have no subject, of which `reconcile` asks. RuntimeError where one had not
        succeeded exactly once."""
        strange = self.rows(STRANGE)[0][0]
        if strange:
            raise RuntimeError(f"{strange} no-op jobs have not succeeded exactly once")
        self._observer.execute(TAKE_AWAY)


def _all_accepted(answer: httpx.Response) -> None:
    answer.raise_for_status()
    strange = [one for one in answer.json()["outcomes"] if one["outcome"] != "accepted"]
    if strange:
        raise RuntimeError(f"{len(strange)} events were not accepted, such as {strange[0]}")


def publish_document(run: ProductRun) -> None:
    """The document that `answer.rated` names is published."""
    run.stage.upload(run.headers, DOCUMENT, "# Returns\n\nGoods may be returned within 30 days.\n").raise_for_status()
    run.start()
    run.stage.await_empty("documents", 60)
    run.stop()
