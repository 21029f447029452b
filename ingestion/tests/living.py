"""A small product with some of everything: published, superseded, waiting, dead and deleted, applied and poisoned."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from ingestion import deleting, event_admission
from ingestion.events import envelope
from ingestion.models import Caller
from ingestion.problems import Problem
from ingestion.queue import sweeping
from ingestion.tests import eventing, making
from ingestion.tests.simulated import shared_simulator

# Of `cards`, whose worker died.
DEAD = "SELECT version.job_id FROM ingestion_documentversion AS version JOIN ingestion_document AS document \
ON document.id = version.document_id WHERE slug = 'cards'"


@contextmanager
def surroundings(folder: Path) -> Iterator[None]:
    """Files go to this folder, the provider is the simulated one; afterwards the database is as after its migration.

    For a product that all tests of a module share: it must be committed, because claims look at the clock of their
    transaction, which stands still inside a test.
    """
    simulator = shared_simulator()
    simulator.reset()
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(folder)}}
    with override_settings(STORAGES={**settings.STORAGES, "default": storage}, PROVIDER_BASE_URL=simulator.base_url):
        try:
            yield
        finally:
            call_command("flush", interactive=False, verbosity=0)
            making.stand()


@dataclass(frozen=True)
class Living:
    """Who uploads and who produces in it."""

    omar: making.Uploader
    helpdesk: Caller


def live() -> Living:
    """Everything went through the product's own doors; needs `surroundings` or fixtures like them."""
    omar = making.Uploader("omar", "upload", "ask", "operate")
    for text in (b"# Returns\n\nWithin 30 days.\n\n## Online\n\nWithin 14 days.\n", b"# Returns\n\nWithin 40 days.\n"):
        omar.accepted("returns", text)
        making.work()
    omar.accepted("refunds", b"# Refunds\n\nMoney comes back within five days.\n")
    omar.accepted("gone", b"# Gone\n\nThis policy will be deleted.\n")
    making.work()
    assert deleting.delete_document("gone")
    _bury(omar.accepted("cards", b"# Cards\n\nGift cards are valid for two years.\n")["job"]["id"])
    omar.accepted("refunds", b"# Refunds\n\nMoney comes back within nine days.\n", key="waits")
    helpdesk = making.make_caller("helpdesk-eu", "produce")
    rated = {"type": "answer.rated", "payload": {"answer_id": "a", "document": "returns", "rating": 4}}
    poison = {"type": "answer.rated", "payload": {"answer_id": "a", "document": "returns", "rating": "banana"}}
    view = {"payload": {"document": "returns", "version": 2}}
    send(helpdesk, eventing.event(1, **view), eventing.event(2, **rated), eventing.event(3, **poison))
    eventing.work()
    send(helpdesk, eventing.event(4, **view))
    return Living(omar, helpdesk)


def send(caller: Caller, *events: dict[str, Any]) -> None:
    """Each event is accepted."""
    verdicts = event_admission.admit_events(caller, [envelope.read(one) for one in events])
    assert [verdict for verdict in verdicts if isinstance(verdict, Problem)] == []


def _bury(job_id: str) -> None:
    """The job's worker died on its last try."""
    making.change_job(job_id, max_attempts=1)
    making.run_out(making.claim_one())
    sweeping.rescue()
    assert making.job(job_id).state == "dead_letter"
