"""Fixtures that more than one room of the tests asks for by name; none runs unasked."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from ingestion.tests.simulated import Simulator, shared_simulator


@pytest.fixture
def files(settings: Settings, tmp_path: Path) -> Path:
    """The folder of stored files, empty and of this test alone."""
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["default"] = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(tmp_path)},
    }
    settings.STORAGES = storages
    return tmp_path


@pytest.fixture
def simulator(settings: Settings) -> Simulator:
    """A provider without faults or latency, with full quotas and an empty ledger; the product is pointed at it."""
    running = shared_simulator()
    running.reset()
    settings.PROVIDER_BASE_URL = running.base_url
    settings.PROVIDER_TIMEOUT_SECONDS = 5.0
    return running
