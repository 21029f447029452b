"""PostgreSQL and Valkey for a machine on which none is configured: start or join, last one out stops.

Lives here: the two addresses that settings ask for, and leaving. How a server is kept alive is in `joining`
and `keeper`; what each server needs is in `postgres` and `valkey`. Nothing here knows Django.
"""

from pathlib import Path

from larkfield.embedded import joining
from larkfield.embedded.errors import EmbeddedUnavailable

__all__ = ["EmbeddedUnavailable", "database_url", "fallen", "leave", "valkey_url"]


def database_url(directory: Path) -> str:
    """A PostgreSQL 18 with the database "larkfield" and the extension "vector" runs below `directory`.

    This process keeps it running until it ends or calls `leave`. Returns a postgresql:// URL of a Unix
    socket. Raises EmbeddedUnavailable, whose text is one line.
    """
    from larkfield.embedded.postgres import Postgres  # loads the driver, which Valkey alone does not need

    return joining.join(Postgres(directory.resolve()))


def valkey_url(directory: Path) -> str:
    """A Valkey 9 without a TCP port and without files runs below `directory`.

    This process keeps it running until it ends or calls `leave`. Returns a unix:// URL for redis-py.
    Raises EmbeddedUnavailable, whose text is one line.
    """
    from larkfield.embedded.valkey import Valkey

    return joining.join(Valkey(directory.resolve()))


def fallen(directory: Path) -> list[str]:
    """The names of the servers joined below `directory` that no longer run, in the order they were joined."""
    return joining.fallen(directory.resolve())


def leave(directory: Path, timeout_seconds: float = 30.0) -> bool:
    """This process keeps no server below `directory` running; those nobody else uses have stopped.

    Returns False when one was still stopping after the timeout (its keeper goes on stopping it).
    """
    return joining.leave(directory.resolve(), timeout_seconds)
