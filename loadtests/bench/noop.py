"""An event type that changes nothing, for the bench alone: `bench.noop`. The product does not know it.

Everything else of an event is done: it is admitted, kept, claimed in the order of its partition, its effect's identity
is stored, the checkpoint moves, the job is settled.
"""

from typing import Any

from django.apps import AppConfig

from ingestion.events.types import TYPES, Change, EventType
from loadtests.bench.peers.program import stamp

NOOP = "bench.noop"


def _changes(payload: dict[str, Any]) -> list[Change]:
    stamp(payload.get("sent"))
    return []


class Noop(AppConfig):
    """Makes the type known to the process that has this application."""

    name = "loadtests.bench"
    label = "bench_noop"

    def ready(self) -> None:
        TYPES[NOOP] = EventType(1, _changes)
