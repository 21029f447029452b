"""The simulated provider, an empty cache and a caller for every test of the assistant that asks for them."""

from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis

from assistant import cache, history
from assistant.tests import policies, publishing
from ingestion.models import Corpus
from ingestion.tests.simulated import Simulator, shared_simulator


@pytest.fixture
def simulator(settings: LazySettings) -> Simulator:
    """A provider without faults, with full quotas and an empty ledger; the product is pointed at it."""
    running = shared_simulator()
    running.reset()
    settings.PROVIDER_BASE_URL = running.base_url
    return running


@pytest.fixture
def valkey(db: None, settings: LazySettings) -> Redis:
    """The cache without entries of this database: a rollback between tests takes none of them back."""
    client: Redis = Redis.from_url(settings.VALKEY_URL)
    for key in client.scan_iter(f"{cache.key_prefix()}*"):
        client.delete(key)
    cache._Health.asked_again_at = 0.0
    return client


@pytest.fixture
def without_valkey(valkey: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing answers where the cache should be."""
    client = cache._client("redis://127.0.0.1:9/0")
    monkeypatch.setattr(cache, "_client", lambda url: client)


@pytest.fixture
def asking(db: None, simulator: Simulator, valkey: Redis) -> "Asking":
    """A caller with the right `ask`, and three published policies."""
    # A test that commits empties every table at its end, also of this row that a migration puts there.
    Corpus.objects.get_or_create(id=1)
    publishing.publish("returns", policies.RETURNS)
    publishing.publish("refunds", policies.REFUNDS)
    publishing.publish("gift-cards", policies.GIFT_CARDS)
    simulator.reset()
    caller, token = publishing.caller()
    # Another run's caller of the same number may have used up its minute.
    for key in valkey.scan_iter(f"*/questions/{caller.pk}/*"):
        valkey.delete(key)
    return Asking(token)


@pytest.fixture
def fresh_history(db: None) -> None:
    """No minute is known from another test: what this process counted outlives the database of a test."""
    history.forget()


class Asking:
    """The two routes as a caller uses them."""

    def __init__(self, token: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {token}"})

    def search(self, q: str, **parameters: Any) -> Any:
        return self.client.get("/v1/search", {"q": q, **parameters})

    def answer(self, question: str, accept: str = "application/json") -> Any:
        return self.client.post(
            "/v1/answers", {"question": question}, content_type="application/json", headers={"Accept": accept}
        )

    def results(self, q: str, **parameters: Any) -> list[dict[str, Any]]:
        response = self.search(q, **parameters)
        assert response.status_code == 200, response.content
        found: list[dict[str, Any]] = response.json()["results"]
        return found

    def object(self, question: str) -> dict[str, Any]:
        response = self.answer(question)
        assert response.status_code == 200, response.content
        made: dict[str, Any] = response.json()
        return made
