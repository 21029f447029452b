"""A database that commits, a simulator and a crew for every test in this room."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from ingestion import standing
from ingestion.models import Corpus, ProviderState, QueueState
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.surroundings import PLENTIFUL
from ingestion.tests.simulated import Simulator


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    """A provider of this test's own, without latency and with quotas that it does not reach."""
    with Simulator(*PLENTIFUL) as running:
        yield running


@pytest.fixture
def tables(transactional_db: None, settings: LazySettings) -> None:
    """Empty tables with the rows that a migration puts there: the flush after a test takes those too."""
    for queue in ("documents", "events"):
        QueueState.objects.get_or_create(queue=queue)
    Corpus.objects.get_or_create(id=1)
    ProviderState.objects.get_or_create(id=1)
    settings.PROMISED_WAIT_SECONDS = 0
    standing._paces.clear()


@pytest.fixture
def crew(tables: None, simulator: Simulator, tmp_path: Path) -> Iterator[Crew]:
    """Starts processes against this test's database; at its end none is left."""
    started = Crew(simulator, tmp_path)
    yield started
    started.clear_away()


@pytest.fixture
def uploader(tables: None) -> Uploader:
    return Uploader()
