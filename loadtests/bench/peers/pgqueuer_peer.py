"""pgqueuer on asyncpg, with its default batch of ten: claims and completions go in batches."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

FILL_BATCH = 1000


async def _queries() -> Queries:
    return Queries(AsyncpgDriver(await asyncpg.connect(program.DATABASE_URL)))


def prepare() -> None:
    async def install() -> None:
        await (await _queries()).install()

    asyncio.run(install())


def fill(count: int) -> None:
    async def enqueue() -> None:
        queries = await _queries()
        for size in program.batches(count, FILL_BATCH):
            await queries.enqueue(["noop"] * size, [None] * size, [0] * size)

    asyncio.run(enqueue())


@contextmanager
def sending() -> Iterator[Send]:
    with asyncio.Runner() as runner:
        queries = runner.run(_queries())
        yield lambda sent: runner.run(queries.enqueue("noop", str(sent).encode()))


def work() -> None:
    asyncio.run(_work())


async def _work() -> None:
    own = PgQueuer(AsyncpgDriver(await asyncpg.connect(program.DATABASE_URL)))

    @own.entrypoint("noop")
    async def noop(job: Job) -> None:
        program.stamp(float(job.payload) if job.payload else None)

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, own.shutdown.set)
    await own.run(batch_size=int(program.VARIANT or 10))


PROGRAM = Program(prepare, fill, work, sending)
