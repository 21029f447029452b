"""Is a pooled connection still there? Django's pool asks the server, once a request; here the socket is asked first.

A server that restarted or ended the connection has said so: the socket has something to read. Only then is the question
sent. It saves every request a round trip, and finds the same broken connections, but for those that vanish silently,
which no question finds sooner either: it would wait for the answer.
"""

import select

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

Connection = psycopg.Connection[tuple[object, ...]]


def check_connection(connection: Connection) -> None:
    """Raises OperationalError for a connection that the server has ended."""
    if connection.closed or _has_something_to_read(connection.fileno()):
        ConnectionPool.check_connection(connection)


def _has_something_to_read(descriptor: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> "ConnectionPool[Connection] | None":
        """The pool of this process; None where none is configured."""
        found: ConnectionPool[Connection] | None = super().pool
        if found is not None and found._check is not None:
            # The pool takes its check when it is made, and Django lets nobody choose it.
            found._check = check_connection
        return found
