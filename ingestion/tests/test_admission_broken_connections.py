"""A database connection that breaks while an upload is admitted: before the commit, and behind it."""

from pathlib import Path

import pytest
from django.db import OperationalError, transaction

from ingestion import admission
from ingestion.models import DocumentVersion
from ingestion.tests.making import Uploader, problem, tokens_used

pytestmark = pytest.mark.django_db(transaction=True)


def stored(files: Path) -> list[str]:
    return [path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file()]


def break_off(*_: object) -> int:
    raise OperationalError("the connection is closed")


def test_one_that_breaks_before_the_commit_leaves_no_file(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    omar = Uploader()
    with monkeypatch.context() as patched:
        patched.setattr("ingestion.queue.controlling.take_place", break_off)
        problem(omar.upload(key="k"), 503, "unavailable")
    assert stored(files) == []
    assert tokens_used(omar.caller) == 0
    assert omar.upload(key="k").status_code == 202


def test_one_that_breaks_behind_the_commit_leaves_the_version_its_file(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    omar = Uploader()
    real = admission._save_rows

    def save_and_break(*given: object) -> admission.Admitted:
        transaction.on_commit(lambda: break_off() and None)
        return real(*given)  # type: ignore[arg-type]  # handed through as they came

    with monkeypatch.context() as patched:
        patched.setattr(admission, "_save_rows", save_and_break)
        problem(omar.upload(key="k"), 503, "unavailable")
    (version,) = DocumentVersion.objects.all()
    assert stored(files) == [version.storage_key]
    # Sent again with its key the request is answered as the accepted one that it is.
    again = omar.upload(key="k")
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (202, "true")
