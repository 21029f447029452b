"""While the provider works on a question, the asking thread holds no database connection and no transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from assistant.tests.conftest import Asking
from ingestion.provider import transport

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("assistant.urls")]

QUESTION = "How many days does a customer have to return an item bought online?"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_no_connection_is_held_while_the_provider_works(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    held: list[tuple[str, bool]] = []
    exchange = transport.exchange

    @contextmanager
    def watched(path: str, *arguments: Any) -> Iterator[transport.Answer]:
        with exchange(path, *arguments) as answer:
            held.append((path, connection.connection is not None or connection.in_atomic_block))
            yield answer

    monkeypatch.setattr(transport, "exchange", watched)
    response = asking.answer(QUESTION, accept)
    assert b"30 days" in b"".join(response.streaming_content if response.streaming else [response.content])
    assert held == [("embeddings", False), ("chat/completions", False)]
