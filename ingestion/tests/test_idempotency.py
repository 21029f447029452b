"""A key names one request of one caller: the same request again gets the same answer, another one is refused."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from ingestion.models import DocumentVersion, IdempotencyKey, Job, QueueState
from ingestion.tests.making import TEXT, Uploader, body, depth, make_job, problem, tokens_used

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]


@pytest.fixture
def omar() -> Uploader:
    return Uploader()


def assert_replayed(response: Any, first: dict[str, Any]) -> None:
    found = body(response, 202)
    assert found == first
    assert response["Idempotent-Replayed"] == "true"
    assert response["Location"] == first["job"]["url"]


def test_the_same_request_again_gets_the_same_version_and_job(omar: Uploader) -> None:
    first = omar.accepted(key="k-1")
    for _ in range(3):
        assert_replayed(omar.upload(key="k-1"), first)
    assert Job.objects.count() == DocumentVersion.objects.count() == IdempotencyKey.objects.count() == 1
    assert depth()[0] == 1
    assert tokens_used(omar.caller) == 1


def test_a_replay_leaves_no_second_file(omar: Uploader, files: Path) -> None:
    omar.accepted(key="k-1")
    omar.upload(key="k-1")
    assert len([path for path in files.rglob("*") if path.is_file()]) == 1


def test_without_a_key_the_same_bytes_are_a_new_version(omar: Uploader) -> None:
    assert [omar.accepted()["version"]["number"] for _ in range(2)] == [1, 2]


def test_a_form_is_the_same_request_whatever_its_boundary(omar: Uploader) -> None:
    first = body(omar.send_file(title="Returns", key="k-1"), 202)
    assert_replayed(omar.send_file(title="Returns", key="k-1"), first)
    form = (
        b'--other\r\nContent-Disposition: form-data; name="title"\r\n\r\nReturns\r\n--other\r\n'
        b'Content-Disposition: form-data; name="file"; filename="returns.md"\r\nContent-Type: text/markdown\r\n\r\n'
        + TEXT + b"\r\n--other--\r\n"
    )  # fmt: skip
    assert_replayed(
        omar.client.post(
            "/v1/documents/returns/versions", form, content_type="multipart/form-data; boundary=other",
            headers={"Idempotency-Key": "k-1"},
        ),
        first,
    )  # fmt: skip


def test_another_request_under_the_same_key_is_422(omar: Uploader) -> None:
    body(omar.send_file(title="Returns", key="k"), 202)
    for other in (
        omar.send_file(title="Returns", key="k", content=TEXT + b"more"),
        omar.send_file(title="Refunds", key="k"),
        omar.send_file(title=None, key="k"),
        omar.send_file(title="Returns", key="k", name="refunds.md"),
        omar.send_file(title="Returns", key="k", media_type="text/plain"),
        omar.send_file("refunds", title="Returns", key="k"),
        omar.upload(key="k"),
    ):
        problem(other, 422, "idempotency_key_reused")
    assert Job.objects.count() == 1
    assert tokens_used(omar.caller) == 1


def test_another_if_match_is_another_request(omar: Uploader) -> None:
    omar.accepted(key="k-1")
    accepted = omar.accepted(key="k-2", headers={"If-Match": '"1"'})
    problem(omar.upload(key="k-2"), 422, "idempotency_key_reused")
    problem(omar.upload(key="k-2", headers={"If-Match": '"2"'}), 422, "idempotency_key_reused")
    # The replay is answered although the precondition has passed by its own effect.
    assert_replayed(omar.upload(key="k-2", headers={"If-Match": '"1"'}), accepted)


def test_another_callers_same_key_is_independent(omar: Uploader) -> None:
    first = omar.accepted(key="k-1")
    theirs = body(Uploader("mei").upload("refunds", key="k-1"), 202)
    assert theirs["job"]["id"] != first["job"]["id"]
    assert_replayed(omar.upload(key="k-1"), first)


@pytest.mark.parametrize("key", ["", " ", '""', "two words", "ümlaut", "k" * 256, '"' + "k" * 256 + '"', "tab\tkey"])
def test_a_key_that_is_no_key_is_400(omar: Uploader, key: str) -> None:
    problem(omar.upload(key=key), 400, "invalid_idempotency_key")
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize("key", ["k", "k" * 255, '"', 'a"b', "~!@#$%^&*()"])
def test_any_visible_ascii_of_one_to_255_characters_is_a_key(omar: Uploader, key: str) -> None:
    first = omar.accepted(key=key)
    assert_replayed(omar.upload(key=key), first)


def test_a_quoted_key_and_a_bare_one_are_the_same(omar: Uploader) -> None:
    first = omar.accepted(key="k-1")
    assert_replayed(omar.upload(key='"k-1"'), first)


def test_a_replay_is_answered_while_the_queue_is_full_and_while_it_drains(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    first = omar.accepted(key="k-1")
    problem(omar.upload(key="k-2"), 503, "queue_full")
    assert_replayed(omar.upload(key="k-1"), first)
    QueueState.objects.update(is_draining=True)
    problem(omar.upload(key="k-2"), 503, "draining")
    assert_replayed(omar.upload(key="k-1"), first)


def test_a_replay_is_answered_over_the_limit_and_costs_no_token() -> None:
    omar = Uploader(uploads_per_minute=1)
    first = omar.accepted(key="k-1")
    problem(omar.upload(key="k-2"), 429, "rate_limited")
    for _ in range(3):
        assert_replayed(omar.upload(key="k-1"), first)
    assert tokens_used(omar.caller) == 1


def test_a_refused_request_can_be_sent_again_with_its_key(omar: Uploader, settings: Settings) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 1
    filler = make_job(omar.caller)
    problem(omar.upload(key="k-1"), 503, "queue_full")
    assert not IdempotencyKey.objects.exists()
    assert tokens_used(omar.caller) == 0
    Job.objects.filter(id=filler).delete()
    QueueState.objects.update(jobs=0, units=0, bytes=0)
    omar.accepted(key="k-1")


def test_a_key_ends_after_a_day_and_may_then_name_another_request(omar: Uploader) -> None:
    first = omar.accepted(key="k-1")
    lifetime = IdempotencyKey.objects.get()
    assert (lifetime.expires_at - lifetime.created_at).total_seconds() == 24 * 3600
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ingestion_idempotencykey SET expires_at = now() - interval '1 second'")
    second = body(omar.upload(content=TEXT + b"more", key="k-1"), 202)
    assert second["version"]["number"] == 2
    assert second["job"]["id"] != first["job"]["id"]
    assert_replayed(omar.upload(content=TEXT + b"more", key="k-1"), second)
    assert IdempotencyKey.objects.count() == 1


def test_a_replay_tells_of_the_acceptance_also_after_the_job_has_ended(omar: Uploader) -> None:
    first = omar.accepted(key="k-1")
    omar.post(first["job"]["url"] + "/cancel", 200)
    assert_replayed(omar.upload(key="k-1"), first)
