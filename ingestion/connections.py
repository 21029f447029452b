"""How a thread gives its database connection back to the pool, and how it asks what it asks all the time.

A worker has far fewer connections than threads: nobody keeps one while it waits for the provider.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError, connection
from psycopg_pool import PoolTimeout

# What a statement raises when the database or the connection is gone. (Some faults of a statement come as the first
# too: whoever repeats work on these does it a few times, not for ever.)
AWAY = (OperationalError, InterfaceError, PoolTimeout)


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


def prepared(statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement that the server keeps parsed and planned for this connection.

    Django binds parameters in the client, so that each request has its text read and planned anew; for admission's
    statements that costs two to five times what running them does. Errors and the log are Django's.
    """
    connection.ensure_connection()
    own: Any = psycopg.Cursor(connection.connection)
    with connection.make_debug_cursor(own) if connection.queries_logged else connection.make_cursor(own) as cursor:
        cursor.execute(statement, parameters)
        # Not `description`, which describes every column of the result to answer whether there is one.
        return cursor.fetchall() if own.pgresult and own.pgresult.nfields else []
