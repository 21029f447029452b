"""awa: a Rust engine behind an asynchronous client; leases, receipts and completions are batched by the engine."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from awa import AsyncClient

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

FILL_BATCH = 5000
QUEUE = "bench"
# Its driver wants a host before it takes the socket's folder.
ADDRESS = program.DATABASE_URL.replace("@/", "@localhost/")


@dataclass
class Noop:
    sent: float | None = None


def prepare() -> None:
    async def migrate() -> None:
        client = _client()
        await client.migrate()
        # The first start chooses the storage, which filling needs.
        await client.start([(QUEUE, 1)])
        await client.shutdown()

    asyncio.run(migrate())


def fill(count: int) -> None:
    async def enqueue() -> None:
        client = AsyncClient(ADDRESS)
        for size in program.batches(count, FILL_BATCH):
            await client.enqueue_many_copy([Noop() for _ in range(size)], queue=QUEUE)
        await client.close()

    asyncio.run(enqueue())


@contextmanager
def sending() -> Iterator[Send]:
    with asyncio.Runner() as runner:
        client = AsyncClient(ADDRESS)
        yield lambda sent: runner.run(_insert(client, sent))


async def _insert(client: AsyncClient, sent: float) -> None:
    await client.insert(Noop(sent), queue=QUEUE)


def work() -> None:
    asyncio.run(_work())


def _client() -> AsyncClient:
    """A client that knows how to run the no-op."""
    client = AsyncClient(ADDRESS)

    @client.task(Noop, queue=QUEUE)
    async def noop(job: Any) -> None:
        program.stamp(job.args.sent)

    return client


async def _work() -> None:
    client = _client()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await client.start([(QUEUE, int(program.VARIANT or 16))])
    await stopped.wait()
    await client.shutdown()


PROGRAM = Program(prepare, fill, work, sending)
