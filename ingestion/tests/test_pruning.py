"""prune: old history of settled work goes, everything else stays, and every invariant holds afterwards."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker, Settings

from ingestion import pruning
from ingestion.models import (
    Chunk,
    ChunkVector,
    Document,
    DocumentVersion,
    EventEffect,
    EventRecord,
    IdempotencyKey,
    Job,
    JobOutcome,
    ProviderCall,
    Summary,
    Worker,
)
from ingestion.reconciling import check_all
from ingestion.tests import eventing, living

pytestmark = pytest.mark.django_db

# Every time of the product's tables moves back by this.
AGED = "interval '40 days'"
TIMES = {
    "job": ("queued_at", "started_at", "finished_at"),
    "joboutcome": ("at",),
    "providercall": ("started_at", "finished_at"),
    "documentversion": ("created_at", "published_at", "superseded_at", "deleted_at"),
    "document": ("created_at", "deleted_at"),
    "eventrecord": ("received_at",),
    "idempotencykey": ("created_at", "expires_at"),
}


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Path]:
    """Where the files are of a small living product, which every test of this module finds as it was made."""
    made = tmp_path_factory.mktemp("files")
    with django_db_blocker.unblock(), living.surroundings(made):
        living.live()
        yield made


@pytest.fixture(autouse=True)
def product(folder: Path, db: None) -> Iterator[Path]:
    """The folder of its files; what a test removes comes back."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    for path, content in before.items():
        path.write_bytes(content)


def age() -> None:
    """All of it happened 40 days ago."""
    with connection.cursor() as cursor:
        for table, columns in TIMES.items():
            changes = ", ".join(f"{column} = {column} - {AGED}" for column in columns)
            cursor.execute(f"UPDATE ingestion_{table} SET {changes}")


def prune(*arguments: str) -> dict[str, int]:
    """What the command says it removed."""
    out = io.StringIO()
    call_command("prune", "--json", *arguments, stdout=out)
    found = json.loads(out.getvalue())
    removed: dict[str, int] = found["removed"]
    assert found["total"] == sum(removed.values())
    return removed


def broken() -> list[str]:
    return [one.name for one in check_all() if not one.holds]


def removed_of(word: str, removed: dict[str, int]) -> int:
    (number,) = [number for what, number in removed.items() if word in what]
    return number


def test_nothing_young_goes() -> None:
    assert set(prune().values()) == {0}


def test_every_invariant_holds_after_a_prune() -> None:
    age()
    assert sum(prune().values()) > 0
    assert broken() == []
    assert set(prune().values()) == {0}


def test_a_dry_run_says_the_same_and_removes_nothing() -> None:
    age()
    said = prune("--dry-run")
    assert prune("--dry-run") == said
    assert prune() == said


def test_the_published_version_and_unfinished_work_keep_everything() -> None:
    age()
    published = Document.objects.get(slug="returns").published
    assert published is not None
    kept = Chunk.objects.filter(version=published).count()
    live_or_dead = Job.objects.filter(state__in=("queued", "dead_letter"))
    outcomes = JobOutcome.objects.filter(job__in=live_or_dead).count()
    prune()
    assert Chunk.objects.filter(version=published, vectors__isnull=False).count() == kept > 0
    assert JobOutcome.objects.filter(job__in=live_or_dead).count() == outcomes > 0
    assert live_or_dead.count() == 4


def test_a_superseded_version_keeps_its_row_text_and_file_and_loses_its_chunks(product: Path) -> None:
    age()
    old = DocumentVersion.objects.get(document__slug="returns", number=1)
    assert removed_of("chunks", prune()) == 2
    assert not ChunkVector.objects.filter(chunk__version=old).exists()
    assert not Chunk.objects.filter(version=old).exists()
    old.refresh_from_db()
    assert old.text
    assert old.chunk_count == 2
    assert Summary.objects.filter(job=old.job).exists()
    assert (product / old.storage_key).exists()


def test_a_deleted_document_goes_with_file_text_and_summary_and_keeps_its_numbers(product: Path) -> None:
    age()
    gone = DocumentVersion.objects.get(document__slug="gone")
    file = product / gone.storage_key
    assert file.exists()
    assert removed_of("deleted documents", prune()) == 1
    assert not file.exists()
    gone.refresh_from_db()
    assert (gone.text, gone.number, gone.storage_key) == (None, 1, f"pruned/{gone.pk}")
    assert not Summary.objects.filter(job=gone.job).exists()


def test_an_old_event_stays_a_replay_without_its_payload() -> None:
    age()
    events, effects = EventRecord.objects.count(), EventEffect.objects.count()
    assert removed_of("payloads", prune()) == 2
    assert (EventRecord.objects.count(), EventEffect.objects.count()) == (events, effects)
    # The poison that a person may still repair, and the one that waits, keep theirs.
    assert EventRecord.objects.exclude(payload={}).count() == 2
    living.send(
        EventRecord.objects.get(event_id="e-1").caller,
        eventing.event(1, payload={"document": "returns", "version": 2}),
    )
    assert EventRecord.objects.count() == events


def test_only_calls_that_a_job_was_charged_for_stay() -> None:
    job = DocumentVersion.objects.get(document__slug="returns", number=1).job
    paid = ProviderCall.objects.count()
    for number, (owner, outcome) in enumerate([(job, "timeout"), (None, "ok")]):
        ProviderCall.objects.create(
            client_request_id=f"call-{number}", job=owner, generation=1 if owner else None, lane="chat", model="m",
            purpose="bulk", step="s", outcome=outcome, finished_at="2026-01-01T00:00:00Z", prompt_tokens=number,
        )  # fmt: skip
    age()
    assert removed_of("calls", prune()) == 2
    assert ProviderCall.objects.count() == paid


def test_the_newest_record_of_a_job_stays() -> None:
    job = DocumentVersion.objects.get(document__slug="returns", number=1).job
    JobOutcome.objects.filter(job=job).delete()
    for generation, outcome in enumerate(("retry", "wait", "succeeded"), start=1):
        JobOutcome.objects.create(job=job, generation=generation, attempt=1, outcome=outcome)
    Job.objects.filter(pk=job.pk).update(generation=3)
    age()
    assert removed_of("records", prune()) == 2
    assert list(JobOutcome.objects.filter(job=job).values_list("outcome", flat=True)) == ["succeeded"]


def test_expired_keys_and_silent_workers_go_and_live_ones_stay() -> None:
    caller = Job.objects.all()[0].caller
    IdempotencyKey.objects.create(caller=caller, key="live", fingerprint="f", expires_at="2999-01-01T00:00:00Z")
    IdempotencyKey.objects.create(caller=caller, key="over", fingerprint="f", expires_at="2026-01-01T00:00:00Z")
    Worker.objects.create(name="live", queues="documents", concurrency=1)
    Worker.objects.create(name="silent", queues="documents", concurrency=1, seen_at="2026-01-01T00:00:00Z")
    prune()
    assert not IdempotencyKey.objects.filter(key="over").exists()
    assert IdempotencyKey.objects.filter(key="live").exists()
    assert list(Worker.objects.values_list("name", flat=True)) == ["live"]


def test_only_old_files_without_a_version_go(product: Path, settings: Settings) -> None:
    young, old = product / "versions" / "returns" / "young", product / "versions" / "returns" / "old"
    for path in (young, old):
        path.write_bytes(b"nobody's")
    os.utime(old, (0, 0))
    kept = DocumentVersion.objects.get(document__slug="returns", number=1)
    os.utime(product / kept.storage_key, (0, 0))
    assert removed_of("files without", prune("--dry-run")) == 1
    assert old.exists()
    assert removed_of("files without", prune()) == 1
    assert (old.exists(), young.exists(), (product / kept.storage_key).exists()) == (False, True, True)
    young.unlink()


def test_more_than_one_step_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    age()
    monkeypatch.setattr(pruning, "ROWS_A_STEP", 1)
    monkeypatch.setattr(pruning, "VERSIONS_A_STEP", 1)
    removed = prune()
    assert removed_of("payloads", removed) == 2
    assert removed_of("chunks", removed) == 2
    assert broken() == []
