"""What every database session of the product brings along, so that it can neither hang nor pin dead rows."""

import threading

import psycopg
import pytest
from django.db import connection

from ingestion.worker.listening import Listener, Noted

pytestmark = pytest.mark.django_db

LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout")


def test_every_session_ends_a_statement_that_hangs_and_a_transaction_that_idles() -> None:
    with connection.cursor() as cursor:
        for limit in LIMITS:
            cursor.execute(f"SHOW {limit}")
            assert cursor.fetchone()[0] not in ("0", "")
    with psycopg.connect(**Listener(threading.Event(), Noted())._parameters, autocommit=True) as listening:
        for limit in LIMITS:
            assert listening.execute(f"SHOW {limit}").fetchone() not in (("0",), None)
