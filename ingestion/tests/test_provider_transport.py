"""Answers that drip, never end or hold rubbish: each call ends in time and says what went wrong."""

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from django.db import OperationalError, connections
from pytest_django import Settings

from ingestion.models import ProviderCall
from ingestion.provider import client, statements, transport
from ingestion.provider.client import CallContext
from ingestion.provider.errors import NotNow, ProviderError, ProviderFailed
from ingestion.tests.odd_provider import OddProvider, answering

BULK = CallContext("bulk", "summary")
ASK = [{"role": "user", "content": "hello"}]

pytestmark = pytest.mark.django_db(transaction=True)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.02)  # the drip itself


def error_of(respond: Callable[[BaseHTTPRequestHandler], None], settings: Settings) -> ProviderError:
    with OddProvider(respond) as odd:
        settings.PROVIDER_BASE_URL = odd.base_url
        with pytest.raises(ProviderError) as error:
            client.chat(ASK, context=BULK, max_tokens=10)
        assert odd.requests[0]["x-client-request-id"] == ProviderCall.objects.get().client_request_id
    return error.value


def test_an_answer_that_drips_ends_at_the_deadline(settings: Settings) -> None:
    settings.PROVIDER_TIMEOUT_SECONDS = 0.4
    started = time.monotonic()
    assert error_of(dripping, settings).code == "provider_timeout"
    assert time.monotonic() - started < 5


def test_an_answer_without_end_is_cut_at_a_size(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", 1000)
    assert error_of(answering(200, b"x" * 5000), settings).code == "provider_malformed"


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"[]", b"\xff\xfe", b"[" * 50_000, b'{"choices": []}'])
def test_a_body_that_is_no_answer_is_malformed(body: bytes, settings: Settings) -> None:
    error = error_of(answering(200, body), settings)
    assert isinstance(error, ProviderFailed)
    assert error.code == "provider_malformed"
    assert ProviderCall.objects.get().outcome == "malformed"


def test_a_wait_of_a_day_holds_nobody_for_a_day(settings: Settings) -> None:
    settings.PROVIDER_PAUSE_SECONDS = 60.0
    error = error_of(answering(429, b"{}", {"Retry-After": "86400"}), settings)
    assert isinstance(error, NotNow)
    assert 55 < error.wait_seconds <= 60


def test_no_connection_to_the_database_is_held_while_the_provider_thinks(settings: Settings) -> None:
    held: list[bool] = []
    of_caller = connections["default"]

    def look(handler: BaseHTTPRequestHandler) -> None:
        held.append(of_caller.connection is not None)
        answering(400, b"{}")(handler)

    error_of(look, settings)
    assert held == [False]


def test_an_outcome_outlives_a_restart_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def rows(name: str, parameters: statements.Row) -> list[statements.Row]:
        tries.append(name)
        if len(tries) < 4:
            raise OperationalError("the database is starting up")
        return [{"now": 1}]

    waits: list[float] = []
    monkeypatch.setattr(statements, "rows", rows)
    assert statements.rows_surely("settle", {}, sleep=waits.append) == [{"now": 1}]
    assert waits == list(statements.RETRY_WAITS_SECONDS[:3])
