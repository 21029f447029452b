"""Producers, documents and a worker for the tests of events, as they are outside: HTTP in, claims and settlements."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.test import Client
from redis import Redis

from ingestion import jobs, promises, standing
from ingestion.models import Caller, Document, DocumentVersion, Job, QueueState
from ingestion.models.callers import hash_token, new_token
from ingestion.queue.claims import Claim, claim_partitions
from ingestion.worker.running import run_in_order

JSON = "application/json"


def event(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A plain event; None takes a field away."""
    made = {
        "producer": "helpdesk-eu",
        "event_id": f"e-{number}",
        "type": "document.viewed",
        "occurred_at": "2026-11-27T09:00:00Z",
        "payload": {"document": "returns", "version": 1},
        **changes,
    }
    return {field: value for field, value in made.items() if value is not None}


class Producer:
    """A caller with its token, as a program outside uses the routes."""

    def __init__(self, name: str = "helpdesk", *rights: str) -> None:
        # The migration makes this row; a test that commits is followed by a flush that takes it.
        QueueState.objects.get_or_create(queue="events")
        token = new_token()
        self.caller = Caller.objects.create(
            name=name, rights=list(rights or ("produce",)), token_hash=hash_token(token)
        )
        self.client = Client(headers={"Authorization": f"Bearer {token}"})
        self._forget_earlier_runs()

    def _forget_earlier_runs(self) -> None:
        """Valkey outlives the test database: another run's caller of the same number may have used its minute."""
        valkey: Redis = Redis.from_url(settings.VALKEY_URL)
        for key in valkey.scan_iter(f"*/events/{self.caller.pk}/*"):
            valkey.delete(key)
        promises.forget("events")
        standing._paces.clear()

    def post(
        self, body: Any, content_type: str = JSON, path: str = "/v1/events", headers: Mapping[str, str] | None = None
    ) -> Any:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(path, sent, content_type=content_type, headers=dict(headers or {}))

    def send(self, number: int = 1, **changes: Any) -> Any:
        return self.post(event(number, **changes))

    def batch(self, events: list[Any]) -> list[dict[str, Any]]:
        response = self.post({"events": events}, path="/v1/events/batch")
        assert response.status_code == 200, response.content
        outcomes: list[dict[str, Any]] = response.json()["outcomes"]
        assert [outcome["index"] for outcome in outcomes] == list(range(len(events)))
        return outcomes

    def get(self, path: str, **parameters: str) -> Any:
        return self.client.get(path, parameters)

    def state_of(self, number: int = 1, producer: str = "helpdesk-eu") -> str:
        return str(self.get(f"/v1/events/{producer}/e-{number}").json()["state"])

    def ledger(self) -> dict[str, Any]:
        numbers: dict[str, Any] = self.get("/v1/events/ledger").json()
        return numbers


def document(slug: str = "returns", versions: int = 1) -> Document:
    """A document whose versions exist; nothing more of it matters here."""
    owner, _ = Caller.objects.get_or_create(name="policy team", defaults={"rights": ["upload"]})
    made = Document.objects.create(slug=slug, title=slug, latest_number=versions)
    for number in range(1, versions + 1):
        job = Job.objects.create(
            queue="documents", kind="ingest_version", state="succeeded", caller=owner, max_attempts=5, units=1,
            bytes=1, finished_at=datetime.now(UTC),
        )  # fmt: skip
        DocumentVersion.objects.create(
            document=made, number=number, job=job, title=slug, sha256="0" * 64, bytes=1, media_type="text/markdown",
            storage_key=f"{slug}/{number}",
        )  # fmt: skip
    return made


def claims(limit: int = 500, partitions: int = 100) -> dict[str, list[Claim]]:
    """What a worker that is free claims now, by partition."""
    return claim_partitions("events", ["apply_event"], limit=limit, partitions=partitions, worker="tester")


def work() -> None:
    """Runs everything that is ready, as a worker does, until nothing is."""
    while runs := claims():
        for run in runs.values():
            run_in_order(run, jobs.KINDS["apply_event"], lambda claim: None)


def depth() -> tuple[int, int, int]:
    """(jobs, units, bytes) as admission counts them."""
    row = QueueState.objects.get(queue="events")
    return row.jobs, row.units, row.bytes


def live_depth() -> tuple[int, int, int]:
    """(jobs, units, bytes) of the unfinished jobs themselves."""
    live = list(Job.objects.filter(queue="events", state__in=("queued", "running")))
    return len(live), sum(job.units for job in live), sum(job.bytes for job in live)
