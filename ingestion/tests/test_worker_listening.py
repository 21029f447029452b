"""The listener: it wakes a worker on an announcement, and comes back by itself when its connection was cut."""

import threading
from collections.abc import Iterator

import pytest
from django.db import connection

from ingestion.queue import wakeup
from ingestion.tests.processes.watching import DEADLINE_SECONDS, eventually
from ingestion.worker import listening
from ingestion.worker.listening import Listener, Noted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def wake(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """What a running listener sets; the listener is gone afterwards, with its connection."""
    monkeypatch.setattr(listening, "RECONNECT_SECONDS", 0.01)
    monkeypatch.setattr(listening, "CHECK_SECONDS", 0.05)
    found = threading.Event()
    listener = Listener(found, Noted())
    listener.start()
    yield found
    listener.stop()
    listener._thread.join(timeout=DEADLINE_SECONDS)


def awaits(wake: threading.Event) -> None:
    assert wake.wait(timeout=DEADLINE_SECONDS)
    wake.clear()


def ears() -> list[int]:
    """The sessions that listen on this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %%'", []
        )
        return [pid for (pid,) in cursor.fetchall()]


def test_an_announcement_wakes_the_worker(wake: threading.Event) -> None:
    awaits(wake)
    wakeup.notify("documents", depth=1)
    awaits(wake)


def test_a_listener_that_was_cut_off_comes_back_and_wakes_the_worker_at_once(wake: threading.Event) -> None:
    awaits(wake)
    (first,) = eventually("it listens", ears)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [first])
    # Nobody announced anything: what was missed meanwhile is found by this one look.
    awaits(wake)
    assert eventually("it listens again", ears) != [first]
    wakeup.notify("documents", depth=1)
    awaits(wake)
