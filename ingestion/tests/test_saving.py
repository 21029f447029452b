"""What the provider has answered is saved also when the database is away just then."""

import uuid
from collections.abc import Callable

import pytest
from django.db import OperationalError

from ingestion.pipeline.saving import save
from ingestion.queue.claims import Claim

pytestmark = pytest.mark.django_db


def a_claim() -> Claim:
    return Claim(uuid.uuid4(), "documents", "ingest_version", 1, 1, 5, None, 1, 1, "")


def failing(times: int, done: list[int]) -> Callable[[], None]:
    """Fails `times` times as a database that restarts does, then writes."""
    left = [times]

    def write() -> None:
        if left[0]:
            left[0] -= 1
            raise OperationalError("the server closed the connection")
        done.append(1)

    return write


def test_a_save_is_repeated_until_the_database_is_back() -> None:
    done: list[int] = []
    pauses: list[float] = []
    save(a_claim(), failing(3, done), pause=pauses.append)
    assert done == [1]
    assert pauses == [0.1, 0.2, 0.4]


def test_a_lost_claim_saves_nothing_more() -> None:
    claim, done = a_claim(), list[int]()
    claim.lost.set()
    with pytest.raises(OperationalError):
        save(claim, failing(1, done), pause=lambda _: None)
    assert done == []


def test_an_error_of_the_work_itself_is_not_repeated() -> None:
    calls: list[int] = []

    def write() -> None:
        calls.append(1)
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        save(a_claim(), write, pause=lambda _: None)
    assert calls == [1]
