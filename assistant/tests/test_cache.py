"""The cache is a convenience: its failures are short, quiet and without effect."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from redis import RedisError

from assistant import cache


@pytest.fixture(autouse=True)
def healthy() -> Iterator[None]:
    cache._Health.asked_again_at, cache._Health.complained_at = 0.0, float("-inf")
    yield
    cache._Health.asked_again_at = 0.0


def fail(calls: list[int]) -> object:
    calls.append(1)
    raise RedisError("it hangs")


def test_after_a_failure_it_is_left_alone_for_a_while() -> None:
    calls: list[int] = []
    for _ in range(5):
        assert cache._attempt(lambda client: fail(calls)) is None
    assert len(calls) == 1


def test_it_is_asked_again_later_and_complains_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    for _ in range(5):
        cache._Health.asked_again_at = 0.0
        cache._attempt(lambda client: fail(calls))
    assert len(calls) == 5
    assert [record.message for record in caplog.records] == ["the cache does not answer; answers are computed"]


def test_a_unix_socket_address_is_taken_too() -> None:
    client = cache._client("unix:///nowhere/valkey.sock?db=0")
    with pytest.raises(RedisError):
        client.ping()


@pytest.mark.django_db
def test_everything_that_changes_an_answer_changes_its_key(
    monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    first = cache.answer_key("q", 1)
    assert cache.answer_key("q", 1) == first
    keys = {first, cache.answer_key("Q", 1), cache.answer_key("q", 2)}
    for name, value in (("PROMPT_VERSION", "x"), ("RULE_VERSION", "x"), ("READERS", "some")):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, value)
            keys.add(cache.answer_key("q", 1))
    for name, value in (("CHAT_MODEL", "x"), ("EMBEDDING_MODEL", "x")):
        before = getattr(settings, name)
        setattr(settings, name, value)
        keys.add(cache.answer_key("q", 1))
        setattr(settings, name, before)
    assert len(keys) == 8
