"""What the worker's coordinator may claim, and when it looks again: an idle one hardly asks at all."""

import time
from collections import Counter

import pytest
from pytest_django import Settings

from ingestion.models import ProviderLane
from ingestion.provider import pacing
from ingestion.worker import lanes

pytestmark = pytest.mark.django_db


def test_both_lanes_are_seen_at_the_same_moment() -> None:
    """A lane whose clock was later than the other's would be taken for closed until then."""
    for _ in range(50):
        gate = pacing.gate()
        assert gate.chat.next_at <= gate.now
        assert gate.embeddings.next_at <= gate.now


def test_a_worker_with_open_lanes_has_no_moment_to_look_again_before_its_poll() -> None:
    for _ in range(50):
        plan = lanes.plan(4, Counter())
        assert [name for name, _ in plan.rooms] == ["embeddings", "chat"]
        assert plan.next_at == 0.0


def test_a_worker_with_a_spent_lane_looks_again_when_it_holds_one_call_more(settings: Settings) -> None:
    settings.QUESTION_SHARE = 0.0
    settings.CHAT_REQUESTS_PER_MINUTE = 6
    ProviderLane.objects.create(name="chat", limit_per_minute=6, level=0)
    assert 5 < lanes.plan(4, Counter()).next_at - time.monotonic() <= 10
