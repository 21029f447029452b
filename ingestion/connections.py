"""How a thread gives its database connection back to the pool.

A worker has far fewer connections than threads: nobody keeps one while it waits for the provider.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection


def release() -> None:
    """This thread holds no connection, unless it is inside a transaction (then the transaction's owner does)."""
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def brief() -> Iterator[None]:
    """A connection for a few statements: given back at the end, whatever happened."""
    try:
        yield
    finally:
        release()


def now() -> datetime:
    """The database's clock: the only one that decides leases and due times."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        moment: datetime = cursor.fetchone()[0]
    return moment
