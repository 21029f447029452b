"""Failure path 3: a full queue answers 503 and saves nothing; a caller over its limit gets 429, others still 202."""

from pathlib import Path

import pytest
from django.conf import settings

from ingestion.models import Document, DocumentVersion, IdempotencyKey, Job, QueueState
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader, policy
from ingestion.tests.processes.watching import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failure_path]


def saved() -> tuple[int, int, int, int, int]:
    """Everything that an upload could leave behind: rows of four tables, and files."""
    rows = [model.objects.count() for model in (Document, DocumentVersion, Job, IdempotencyKey)]
    files = sum(path.is_file() for path in Path(settings.MEDIA_ROOT).rglob("*"))
    return rows[0], rows[1], rows[2], rows[3], files


def test_a_full_queue_refuses_with_an_honest_wait_saves_nothing_and_takes_the_same_request_later(
    crew: Crew, uploader: Uploader
) -> None:
    api = crew.api(DOCUMENTS_QUEUE_MAX="3")
    for number in range(3):
        assert uploader.post_to(api, f"policy-{number}", policy(f"{number}"), f"key-{number}").status_code == 202
    before = saved()
    refused = uploader.post_to(api, "policy-3", policy("3"), "key-3")
    assert (refused.status_code, refused.json()["code"]) == (503, "queue_full")
    assert int(refused.headers["Retry-After"]) >= 1
    assert saved() == before
    assert QueueState.objects.get(queue="documents").jobs == 3
    # A replay takes no place, so it is answered all the same.
    replay = uploader.post_to(api, "policy-0", policy("0"), "key-0")
    assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (202, "true")

    crew.worker("worker")
    eventually("places are free", lambda: QueueState.objects.get(queue="documents").jobs == 0)
    assert uploader.post_to(api, "policy-3", policy("3"), "key-3").status_code == 202


def test_one_caller_over_its_limit_gets_429_while_the_others_are_accepted(crew: Crew, uploader: Uploader) -> None:
    api = crew.api()
    eager = Uploader(uploads_per_minute=2)
    statuses = [eager.post_to(api, "eager", policy(f"e{number}"), f"e{number}").status_code for number in range(2)]
    assert statuses == [202, 202]
    before = saved()
    refused = eager.post_to(api, "eager", policy("e2"), "e2")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert {"ratelimit", "ratelimit-policy"} <= set(refused.headers)
    assert saved() == before
    assert uploader.post_to(api, "calm", policy("c"), "c").status_code == 202
