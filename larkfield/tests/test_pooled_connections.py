"""A pooled connection is looked at without asking the server, and one that the server has ended is replaced."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from psycopg_pool import ConnectionPool

from larkfield.postgresql.base import check_connection

pytestmark = pytest.mark.django_db


@pytest.fixture
def pooled() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    parameters = connection.get_connection_params()
    for name in ("pool", "context", "cursor_factory", "prepare_threshold"):
        parameters.pop(name, None)
    with psycopg.connect(**parameters, autocommit=True) as own:
        yield own


def test_a_connection_that_is_there_passes_without_a_question(
    pooled: psycopg.Connection[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(ConnectionPool, "check_connection", asked.append)
    check_connection(pooled)
    assert asked == []


def test_one_that_the_server_ended_is_found(pooled: psycopg.Connection[tuple[object, ...]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pooled.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        check_connection(pooled)
