"""Runs the room's SQL files, each in one statement, and gives the connection back at once.

Nothing here knows what a statement means. A connection is never held while HTTP is under way.
"""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError, connection

SQL_FOLDER = Path(__file__).with_name("sql")

# Together about eight seconds: a restart of the database takes one to three.
RETRY_WAITS_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)

Row = dict[str, Any]


@cache
def _text(name: str) -> str:
    return (SQL_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def release_connection() -> None:
    """The connection is back in the pool, unless an open transaction still needs it."""
    if not connection.in_atomic_block:
        connection.close()


def rows(name: str, parameters: Row) -> list[Row]:
    """What `sql/<name>.sql` returns, committed; each row by column name."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_text(name), parameters)
            columns = [column.name for column in cursor.description or ()]
            return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    finally:
        release_connection()


def rows_surely(name: str, parameters: Row, sleep: Callable[[float], None] = time.sleep) -> list[Row]:
    """As `rows`, tried again while the database is away: a paid call's outcome must not be lost.

    The statement has to be one that may run twice. Inside a transaction there is no second try.
    """
    for wait in RETRY_WAITS_SECONDS:
        try:
            return rows(name, parameters)
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block:
                raise
            sleep(wait)
    return rows(name, parameters)
