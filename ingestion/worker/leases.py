"""Leases of the claims that run here: one thread extends them beside the work, so that no step can starve it."""

import logging
import threading
import time
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from psycopg_pool import PoolTimeout

from ingestion import connections
from ingestion.models import Worker
from ingestion.queue import settling
from ingestion.queue.claims import Claim
from ingestion.worker.database import answers

log = logging.getLogger("ingestion.worker")

# How long a worker waits for a database that is down for everybody; nobody else can take its jobs meanwhile.
DATABASE_PATIENCE_SECONDS = 180.0
FAILURES = (DatabaseError, InterfaceError, PoolTimeout, psycopg.Error)


class Leases:
    """Knows what runs here. `is_doubtful` once leases can't be proven: then the worker must end."""

    def __init__(self, name: str, queues: list[str], concurrency: int) -> None:
        self.name, self.queues, self.concurrency = name, queues, concurrency
        self._held: dict[tuple[UUID, int], Claim] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._proven_at = time.monotonic()
        self.is_doubtful = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5)

    def hold(self, claim: Claim) -> None:
        with self._lock:
            self._held[claim.key] = claim

    def let_go(self, claim: Claim) -> None:
        with self._lock:
            self._held.pop(claim.key, None)

    def held(self) -> list[Claim]:
        with self._lock:
            return list(self._held.values())

    def _beat_on(self) -> None:
        while not self._ended.wait(settings.HEARTBEAT_SECONDS):
            self.beat()

    def beat(self) -> None:
        """Extends every lease; those that turn out to be lost are dropped, so that their work stops."""
        started, claims = time.monotonic(), self.held()
        try:
            with connections.brief():
                self._announce(len(claims))
                kept = settling.extend(claims)
        except FAILURES as error:
            self._note_failure(error)
            return
        self._proven_at = started
        for claim in claims:
            if claim.key not in kept and claim.key in self._held:
                claim.lost.set()
                self.let_go(claim)
                log.warning("claim lost", extra={"job": claim.id, "generation": claim.generation})

    def _announce(self, busy: int) -> None:
        Worker.objects.update_or_create(
            name=self.name,
            defaults={"busy": busy, "seen_at": connections.now()},
            create_defaults={
                "queues": ",".join(self.queues),
                "concurrency": self.concurrency,
                "busy": busy,
                "seen_at": connections.now(),
            },
        )

    def _note_failure(self, error: Exception) -> None:
        """A beat that failed: a database that is down for all is waited for, anything else ends with the lease."""
        unproven = time.monotonic() - self._proven_at
        patience = settings.LEASE_SECONDS if answers() else max(settings.LEASE_SECONDS, DATABASE_PATIENCE_SECONDS)
        log.warning("heartbeat failed", extra={"error": type(error).__name__, "unproven_seconds": round(unproven, 1)})
        if unproven > patience:
            for claim in self.held():
                claim.lost.set()
            self.is_doubtful.set()
