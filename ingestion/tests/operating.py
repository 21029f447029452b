"""What the admin's tests are made of: accounts with a caller, dead letters, quarantined events, a list's actions."""

from html import unescape
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client
from django.utils.html import strip_tags

from ingestion.models import Caller, EventRecord, Job, JobOutcome
from ingestion.queue import controlling
from ingestion.queue.controlling import NewJob
from ingestion.tests.making import stand


def signed_in(name: str, *rights: str, is_superuser: bool = False, is_staff: bool = True) -> Client:
    """A browser in which this account is signed in; its caller has the rights, without any it has no caller."""
    user = get_user_model().objects.create(username=name, is_staff=is_staff, is_superuser=is_superuser)
    if rights:
        Caller.objects.create(name=name, rights=[right for right in rights if right != "none"], user=user)
    client = Client()
    client.force_login(user)
    return client


def producer() -> Caller:
    stand()
    return Caller.objects.get_or_create(name="producer", defaults={"rights": ["produce"]})[0]


def dead_job(queue: str = "events", state: str = "dead_letter", **values: Any) -> Job:
    """A job that has ended, with its record."""
    kind = "apply_event" if queue == "events" else "ingest_version"
    job_id = controlling.insert(NewJob(queue, kind, producer().pk, 1, 10, partition="p" if queue == "events" else None))
    row = {"state": state, "finished_at": "2026-11-27T09:00:00Z", "attempt": 1, "generation": 1, **values}
    Job.objects.filter(id=job_id).update(**row)
    JobOutcome.objects.create(job_id=job_id, generation=1, attempt=1, outcome=state, worker="w-1")
    return Job.objects.get(id=job_id)


def quarantined(event_id: str = "e-1", **values: Any) -> EventRecord:
    """An event that could not be applied."""
    job = dead_job(**{"error_code": "invalid_payload", **values})
    return EventRecord.objects.create(
        producer="p", event_id=event_id, caller=producer(), type="answer.rated", partition="p",
        payload={"rating": "banana"}, occurred_at="2026-11-27T09:00:00Z", payload_hash="0" * 64, job=job,
    )  # fmt: skip


def act(client: Client, table: str, action: str, *keys: object, confirmed: bool = True, **fields: str) -> str:
    """The words of the page that answers to a list's action; with `confirmed` that after the confirmation page."""
    address = f"/admin/ingestion/{table}/"
    sent = {"action": action, "_selected_action": [str(key) for key in keys], **fields}
    asked = client.post(address, sent, follow=True)
    assert asked.status_code == 200
    if not confirmed:
        return words(asked)
    return words(client.post(address, {**sent, "chosen": asked.context["chosen"], "confirmed": "yes"}, follow=True))


def words(answer: Any) -> str:
    """The text of a page, on one line."""
    spaced = answer.content.decode().replace("<", " <")
    return " ".join(unescape(strip_tags(spaced)).split())
