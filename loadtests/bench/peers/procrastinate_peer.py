"""procrastinate: its asynchronous worker with LISTEN/NOTIFY; jobs are kept when they are done, as by default."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import procrastinate

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

FILL_BATCH = 1000
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=program.DATABASE_URL))


@app.task(name="noop")
async def noop(sent: float | None = None) -> None:
    program.stamp(sent)


@contextmanager
def _sync() -> Iterator[procrastinate.App]:
    """The application for code that is not asynchronous."""
    with app.replace_connector(procrastinate.SyncPsycopgConnector(conninfo=program.DATABASE_URL)) as own, own.open():
        yield own


def prepare() -> None:
    with _sync() as own:
        own.schema_manager.apply_schema()


def fill(count: int) -> None:
    with _sync():
        for size in program.batches(count, FILL_BATCH):
            noop.batch_defer(*({} for _ in range(size)))


@contextmanager
def sending() -> Iterator[Send]:
    with _sync():
        yield lambda sent: noop.defer(sent=sent)


def work() -> None:
    asyncio.run(_work())


async def _work() -> None:
    async with app.open_async():
        await app.run_worker_async(concurrency=int(program.VARIANT or 1))


PROGRAM = Program(prepare, fill, work, sending)
