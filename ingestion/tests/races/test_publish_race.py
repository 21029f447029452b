"""Versions of one document publish, and the document is deleted, at the same moment."""

from threading import Event

import pytest
from django.db import connection, transaction

from ingestion.models import Chunk, Corpus, Document, DocumentVersion
from ingestion.pipeline import storing
from ingestion.queue import settling
from ingestion.tests.making import Uploader, claims, depth, job, live_depth, run, work
from ingestion.tests.races.meeting import at_once
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files", "simulator")]


@pytest.fixture
def omar() -> Uploader:
    return Uploader("omar", "upload", "operate")


def rules(number: int) -> bytes:
    return f"# Rules {number}\n\nGoods of the kind {number} go back within {number + 3} days.\n".encode()


def test_of_versions_that_finish_at_once_the_highest_is_published(omar: Uploader) -> None:
    for number in range(6):
        omar.accepted(content=rules(number))
    held = claims()
    at_once(6, lambda number: run(held[number]))
    document = Document.objects.select_related("published").get()
    assert document.published is not None
    assert document.published.number == 6
    assert set(Chunk.objects.filter(is_searchable=True).values_list("version__number", flat=True)) == {6}
    assert DocumentVersion.objects.filter(superseded_at=None).count() == 1
    assert depth() == live_depth() == (0, 0, 0)


def test_documents_that_publish_at_once_each_raise_the_corpus_once(omar: Uploader) -> None:
    for number in range(6):
        omar.accepted(f"d-{number}", rules(number))
    held = claims()
    before = Corpus.objects.get().generation
    at_once(6, lambda number: run(held[number]))
    assert Document.objects.filter(published__isnull=False).count() == 6
    assert Corpus.objects.get().generation == before + 6


def test_a_deletion_among_publishing_workers_leaves_nothing_of_the_document(omar: Uploader) -> None:
    for number in range(4):
        omar.accepted(content=rules(number))
    omar.accepted("other", rules(9))
    held = claims()

    def act(number: int) -> int:
        if number == 0:
            return int(omar.client.delete("/v1/documents/returns").status_code)
        run(held[number - 1])
        return 0

    assert at_once(6, act)[0] == 204
    assert list(Chunk.objects.filter(is_searchable=True).values_list("version__document__slug", flat=True)) == ["other"]
    assert Document.objects.get(slug="returns").published is None
    assert depth() == live_depth() == (0, 0, 0)


def test_a_deletion_waits_for_a_worker_that_saves_a_text_and_neither_falls(
    omar: Uploader, simulator: Simulator
) -> None:
    """The worker holds its job and then needs the version: the deletion must take them in the same order."""
    omar.accepted(content=rules(1))
    (held,) = claims()
    version = DocumentVersion.objects.get()
    fenced = Event()

    def act(number: int) -> int:
        if number == 0:
            assert fenced.wait(timeout=20)
            return int(omar.client.delete("/v1/documents/returns").status_code)
        with transaction.atomic():
            settling.fence(held, done=0, total=0)
            fenced.set()
            wait_until_somebody_is_blocked()
            DocumentVersion.objects.filter(id=version.id).update(text="x", text_sha256=storing.text_hash("x"))
        return 0

    assert at_once(2, act) == [204, 0]
    assert job(held.id).state == "cancelled"


def wait_until_somebody_is_blocked() -> None:
    """Returns when another session of this database waits for a lock."""
    for _ in range(400):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()"
            )
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.01)")
            cursor.execute("SELECT pg_stat_clear_snapshot()")
    raise AssertionError("nobody came to wait")


def test_an_upload_during_a_deletion_is_a_new_version_or_refused_and_never_lost(omar: Uploader) -> None:
    omar.accepted(content=rules(1))
    work()

    def act(number: int) -> int:
        if number == 0:
            return int(omar.client.delete("/v1/documents/returns").status_code)
        return int(omar.upload(content=rules(number)).status_code)

    found = at_once(5, act)
    assert found == [204, 202, 202, 202, 202]
    work()
    numbers = list(DocumentVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2, 3, 4, 5]
    assert depth() == live_depth() == (0, 0, 0)
