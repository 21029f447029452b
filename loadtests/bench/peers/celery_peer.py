"""celery on Valkey: tasks are acknowledged after they ran, results are not kept; durable as the server's log is."""

from collections.abc import Iterator
from contextlib import contextmanager

from celery import Celery

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

app = Celery("bench", broker=program.VALKEY_URL.replace("unix://", "redis+socket://"))
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
)


@app.task(name="noop")
def noop(sent: float | None = None) -> None:
    program.stamp(sent)


def prepare() -> None:
    """Valkey needs no tables."""


def fill(count: int) -> None:
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(count):
            noop.apply_async(producer=producer)


@contextmanager
def sending() -> Iterator[Send]:
    yield lambda sent: noop.apply_async((sent,))


def work() -> None:
    """As many children as cores, which is its default."""
    app.worker_main(["worker", "--loglevel=ERROR", "--without-gossip", "--without-mingle"])


PROGRAM = Program(prepare, fill, work, sending)
