"""Accepted events for a worker: a document, and ratings of answers from it in many partitions."""

from datetime import UTC, datetime

from django.test import Client, override_settings

from ingestion import callers
from ingestion.models import Document

BATCH = 500
PARTITIONS = 20


def admit_ratings(count: int) -> None:
    """That many ratings of one document are accepted, spread over PARTITIONS partitions."""
    Document.objects.create(slug="returns", title="Returns", latest_number=1)
    client = Client(headers={"Authorization": f"Bearer {callers.create('helpdesk', ('produce',))}"})
    at = datetime.now(UTC).isoformat()
    with override_settings(EVENTS_QUEUE_MAX=count, EVENTS_QUEUE_MAX_UNITS=10 * count, EVENTS_PER_MINUTE=1_000_000):
        for first in range(0, count, BATCH):
            events = [
                {
                    "producer": "helpdesk-eu", "event_id": f"e-{number}", "type": "answer.rated", "occurred_at": at,
                    "partition": f"p-{number % PARTITIONS}",
                    "payload": {"answer_id": f"a-{number}", "document": "returns", "rating": 5},
                }
                for number in range(first, first + BATCH)
            ]  # fmt: skip
            answer = client.post("/v1/events/batch", {"events": events}, content_type="application/json")
            assert answer.status_code == 200, answer.content
            assert {one["outcome"] for one in answer.json()["outcomes"]} == {"accepted"}
