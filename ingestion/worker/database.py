"""Is the database there? Asked over a connection of its own, so that a full pool is not taken for an outage."""

import psycopg
from django.db import connection


def answers() -> bool:
    """A fresh connection gets an answer within two seconds."""
    parameters = connection.get_connection_params()
    for name in ("pool", "context", "cursor_factory", "prepare_threshold"):
        parameters.pop(name, None)
    parameters["connect_timeout"] = 2
    try:
        with psycopg.connect(**parameters, autocommit=True) as fresh:
            fresh.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True
