"""Tests of other rooms run inside one open transaction: calls work there too and leave it open."""

import pytest
from django.db import connection
from pytest_django import Settings

from ingestion.models import ProviderCall
from ingestion.provider import client, pacing
from ingestion.provider.client import CallContext
from ingestion.tests.simulated import shared_simulator


@pytest.mark.django_db
def test_a_call_inside_a_transaction_is_made_and_booked_in_it(settings: Settings) -> None:
    simulator = shared_simulator()
    simulator.reset()
    settings.PROVIDER_BASE_URL = simulator.base_url
    client.embed(["hello"], context=CallContext("bulk", "embed"), token_count=1)
    assert pacing.snapshot()["state"] == "ok"
    assert connection.in_atomic_block
    assert ProviderCall.objects.get().outcome == "ok"
