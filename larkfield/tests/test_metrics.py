"""What /metrics tells is read from the database, so that every process tells the same."""

import psycopg
import pytest
from django.db import connection
from django.test import Client


def metrics(name: str) -> list[str]:
    return [line for line in Client().get("/metrics").content.decode().splitlines() if line.startswith(name)]


@pytest.mark.django_db
def test_depth_bound_and_provider_state_are_there() -> None:
    assert 'larkfield_queue_depth{queue="documents",unit="jobs"} 0.0' in metrics("larkfield_queue_depth")
    assert 'larkfield_queue_bound{queue="events",unit="jobs"} 300.0' in metrics("larkfield_queue_bound")
    assert 'larkfield_provider_state{state="ok"} 1.0' in metrics("larkfield_provider_state")


@pytest.mark.django_db(transaction=True)
def test_the_oldest_open_transaction_is_named() -> None:
    parameters = connection.get_connection_params()
    for name in ("pool", "context", "cursor_factory", "prepare_threshold"):
        parameters.pop(name, None)
    with psycopg.connect(**{**parameters, "application_name": "somebody else"}) as other:
        other.execute("SELECT 1")
        (line,) = metrics("larkfield_oldest_transaction_seconds{")
        assert f'pid="{other.info.backend_pid}"' in line
        assert 'application="somebody else"' in line
        other.rollback()
        assert metrics("larkfield_oldest_transaction_seconds{") == []
