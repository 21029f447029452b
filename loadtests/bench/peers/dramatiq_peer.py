"""dramatiq on Valkey: one worker process of eight threads, its default; results are not kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

broker = RedisBroker(client=redis.Redis.from_url(program.VALKEY_URL))
dramatiq.set_broker(broker)


@dramatiq.actor(actor_name="noop")
def noop(sent: float | None = None) -> None:
    program.stamp(sent)


def prepare() -> None:
    """Valkey needs no tables."""


def fill(count: int) -> None:
    for _ in range(count):
        noop.send()


@contextmanager
def sending() -> Iterator[Send]:
    yield lambda sent: noop.send(sent)


def work() -> None:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    worker = dramatiq.Worker(broker, worker_threads=8)
    worker.start()
    stopped.wait()
    worker.stop()


PROGRAM = Program(prepare, fill, work, sending)
