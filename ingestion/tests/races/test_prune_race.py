"""A prune that is in the middle of its work holds back no upload."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from ingestion import pruning
from ingestion.models import IdempotencyKey
from ingestion.tests.making import Uploader, depth, live_depth
from ingestion.tests.processes.watching import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


def upload(omar: Uploader) -> int:
    """The status of an upload that a thread of its own makes."""
    try:
        return int(omar.upload("new", key="a-new-key").status_code)
    finally:
        connection.close()


def somebody_waits() -> bool:
    """A session waits for a table of this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return int(cursor.fetchone()[0]) > 0


def test_an_upload_is_accepted_while_a_prune_holds_its_rows() -> None:
    omar = Uploader()
    omar.accepted("old", key="an-old-key")
    IdempotencyKey.objects.update(expires_at=datetime.now(UTC) - timedelta(hours=1))
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        assert dict(pruning.prune())["expired idempotency keys"] == 1
        assert threads.submit(upload, omar).result(timeout=60) == 202
    assert depth() == live_depth()


def test_behind_a_prune_that_locked_its_table_an_upload_would_wait() -> None:
    """The control: whoever takes more than rows holds uploads back until it commits."""
    omar = Uploader()
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE ingestion_idempotencykey IN SHARE MODE")
            waiting = threads.submit(upload, omar)
            eventually("the upload waits", somebody_waits, within=25)
            assert not waiting.done()
        assert waiting.result(timeout=60) == 202
