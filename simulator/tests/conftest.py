"""One simulator for the whole run that answers at once, as new before every test."""

from collections.abc import Iterator

import pytest

from simulator.options import Options
from simulator.tests.running import Provider, running


@pytest.fixture(scope="session")
def shared_provider() -> Iterator[Provider]:
    with running(Options(latency_scale=0.0)) as provider:
        yield provider


@pytest.fixture
def provider(shared_provider: Provider) -> Provider:
    shared_provider.control("reset")
    return shared_provider
