"""Wakes the coordinator when a job is admitted. Optional: without it (PgBouncer) the poll finds the work."""

import logging
import threading
from dataclasses import dataclass

import psycopg
from django.db import connection

from ingestion.queue.wakeup import CHANNEL

log = logging.getLogger("ingestion.worker")

RECONNECT_SECONDS = 2.0
CHECK_SECONDS = 5.0


@dataclass
class Noted:
    """The queue that the latest notification named."""

    queue: str = ""


class Listener:
    """One thread with one connection of its own; after a lost connection it comes back and wakes at once."""

    def __init__(self, wake: threading.Event, noted: Noted) -> None:
        self._wake, self._noted = wake, noted
        self._ended = threading.Event()
        self._parameters = connection.get_connection_params()
        for name in ("pool", "context", "cursor_factory", "prepare_threshold"):
            self._parameters.pop(name, None)
        self._thread = threading.Thread(target=self._listen_on, name="listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()

    def _listen_on(self) -> None:
        while not self._ended.is_set():
            try:
                self._listen()
            except psycopg.Error as error:
                log.warning("listening stopped; coming back", extra={"error": type(error).__name__})
                self._ended.wait(RECONNECT_SECONDS)

    def _listen(self) -> None:
        with psycopg.connect(**self._parameters, autocommit=True) as own:
            own.execute(f"LISTEN {CHANNEL}")
            # What was announced while nobody listened is found by one poll at once.
            self._wake.set()
            while not self._ended.is_set():
                for note in own.notifies(timeout=CHECK_SECONDS, stop_after=1):
                    self._noted.queue = note.payload
                    self._wake.set()
