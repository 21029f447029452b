"""Saving what the provider has answered, also when the database is away just then: the answer was paid for."""

import time
from collections.abc import Callable

from django.db import transaction

from ingestion import connections
from ingestion.connections import AWAY
from ingestion.queue.claims import Claim

# A restart of the database takes seconds; a longer absence is the worker's to deal with.
PATIENCE_SECONDS = 60.0
PAUSE_MAX_SECONDS = 2.0


def save(claim: Claim, write: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
    """`write` is committed in a transaction of its own. It is repeated while the database is away and the claim ours.

    A commit whose answer was lost may have happened: `write` must be safe to repeat, and is fenced by the claim.
    """
    deadline, tries = time.monotonic() + PATIENCE_SECONDS, 0
    while True:
        try:
            with connections.brief(), transaction.atomic():
                write()
            return
        except AWAY:
            if claim.lost.is_set() or time.monotonic() > deadline:
                raise
            pause(min(PAUSE_MAX_SECONDS, 0.1 * 2.0**tries))
            tries += 1
