"""A new embedding model without downtime: backfill, switch, and back; the old vectors answer until the switch."""

import io
import json
import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from ingestion import backfilling
from ingestion.models import ChunkVector, Corpus, EmbeddingSpace, Job, Reembedding, SearchableVector, embedding_version
from ingestion.pipeline import embedding, publishing
from ingestion.pipeline.vector_index import has_index
from ingestion.queue import sweeping
from ingestion.reconciling import check_all
from ingestion.tests.making import Uploader, claim_one, depth, job, live_depth, make_ready, run, run_out, work
from ingestion.tests.races.meeting import at_once
from ingestion.tests.simulated import Simulator
from ingestion.tests.test_queue_pipeline import crash_after, inputs, policy

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

OLD, NEW = EmbeddingSpace("embed-small", 384), EmbeddingSpace("embed-small", 64)


@pytest.fixture
def omar(simulator: Simulator, settings: Settings) -> Uploader:
    settings.QUESTION_SHARE = 0.0
    settings.EMBEDDING_BATCH_INPUTS = 4
    return Uploader("omar", "upload", "operate")


@pytest.fixture
def two_published(omar: Uploader) -> Uploader:
    omar.accepted("returns", policy())
    omar.accepted("refunds", policy(title="Refunds", parts=2))
    work()
    return omar


def broken() -> dict[str, list[str]]:
    return {one.name: one.ids for one in check_all() if not one.holds}


def found_in(space: EmbeddingSpace) -> set[tuple[str, int]]:
    """The versions that search can find in a space."""
    rows = SearchableVector.objects.filter(embedding_version=space.name)
    return set(rows.values_list("document__slug", "chunk__version__number"))


def backfill(*options: str) -> Any:
    out = io.StringIO()
    call_command("backfill", "--model", NEW.model, "--dimension", str(NEW.dimension), "--json", *options, stdout=out)
    return json.loads(out.getvalue())


def fill() -> None:
    """The new space is complete."""
    backfill("--once")
    work()
    assert backfilling.progress(NEW).is_complete


def switch(space: EmbeddingSpace) -> Any:
    out = io.StringIO()
    call_command("switchembedding", space.name, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_old_vectors_answer_until_the_switch_and_again_after_the_way_back(two_published: Uploader) -> None:
    both = {("returns", 1), ("refunds", 1)}
    assert backfill("--once") == {
        "embedding_version": NEW.name, "published": 2, "complete": 0, "under_way": 2, "stuck": 0,
    }  # fmt: skip
    assert (embedding_version(), found_in(OLD), found_in(NEW)) == (OLD.name, both, set())
    work()
    assert (embedding_version(), found_in(OLD), found_in(NEW)) == (OLD.name, both, both)
    generation = Corpus.objects.get().generation
    assert switch(NEW) == {"embedding_version": NEW.name, "before": OLD.name}
    assert embedding_version() == NEW.name
    assert Corpus.objects.get().generation == generation + 1
    assert has_index(NEW)
    assert {len(one.vector) for one in SearchableVector.objects.filter(embedding_version=NEW.name)} == {64}
    assert broken() == {}
    switch(OLD)
    assert embedding_version() == OLD.name
    assert found_in(OLD) == both
    assert broken() == {}


def test_a_switch_to_an_incomplete_version_is_refused_and_changes_nothing(two_published: Uploader) -> None:
    backfill("--once")
    run(claim_one(lane="embeddings"))
    with pytest.raises(CommandError, match="1 published versions have no vectors under embed-small/64"):
        switch(NEW)
    assert embedding_version() == OLD.name
    with pytest.raises(CommandError, match="MODEL/DIMENSION"):
        call_command("switchembedding", "embed-small")


def test_what_is_published_meanwhile_is_demanded_by_the_switch_and_found_by_the_backfill(
    two_published: Uploader,
) -> None:
    fill()
    two_published.accepted("returns", policy(changed=1))
    work()
    assert found_in(OLD) == {("returns", 2), ("refunds", 1)}
    assert found_in(NEW) == {("refunds", 1)}
    with pytest.raises(CommandError, match="1 published versions"):
        switch(NEW)
    fill()
    switch(NEW)
    assert found_in(NEW) == {("returns", 2), ("refunds", 1)}
    # And the other way: uploads of now are missing under the old model, until they are filled in there too.
    two_published.accepted("returns", policy(changed=2))
    work()
    assert found_in(NEW) == {("returns", 3), ("refunds", 1)}
    with pytest.raises(CommandError, match="--dimension 384"):
        switch(OLD)
    backfilling.feed(OLD)
    work()
    switch(OLD)
    assert broken() == {}


def test_a_version_that_publishes_across_the_switch_gets_the_vectors_that_are_searched(two_published: Uploader) -> None:
    fill()
    two_published.accepted("returns", policy(changed=1))
    held = claim_one()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "bump_corpus", lambda: _switch_beside(patch))
        run(held)
    # The publish was undone: the version was complete in the space before the switch only.
    assert (job(held.id).state, job(held.id).error_code) == ("queued", "incomplete_version")
    assert found_in(NEW) == {("returns", 1), ("refunds", 1)}
    make_ready()
    work()
    assert found_in(NEW) == {("returns", 2), ("refunds", 1)}
    assert broken() == {}


def _switch_beside(patch: pytest.MonkeyPatch) -> None:
    """Another session switches just before the corpus is locked; then the publish goes on."""
    patch.undo()
    beside = threading.Thread(target=_switch_and_leave)
    beside.start()
    beside.join(timeout=20)
    publishing.bump_corpus()


def _switch_and_leave() -> None:
    try:
        backfilling.switch(NEW)
    finally:
        connection.close()


def test_a_backfill_goes_on_after_a_crash_at_the_first_missing_batch(
    two_published: Uploader, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = inputs(simulator)
    backfill("--once")
    held = claim_one(lane="embeddings")
    with monkeypatch.context() as patch:
        crash_after(patch, embedding, "_save", calls=2)
        with pytest.raises(SystemExit):
            run(held)
    saved = ChunkVector.objects.filter(embedding_version=NEW.name).count()
    assert saved == 8
    assert found_in(NEW) == set()
    run_out(held)
    sweeping.rescue()
    work()
    # What was saved before the crash is not paid for again.
    assert inputs(simulator) - before == ChunkVector.objects.filter(embedding_version=NEW.name).count() == 30
    assert backfilling.progress(NEW).is_complete
    assert broken() == {}


def test_a_late_worker_writes_no_vector_of_a_backfill(two_published: Uploader) -> None:
    backfill("--once")
    held = claim_one(lane="embeddings")
    run_out(held)
    sweeping.rescue()
    assert run(held) is False
    assert not ChunkVector.objects.filter(embedding_version=NEW.name).exists()


def test_a_backfill_takes_a_share_of_the_bound_and_leaves_a_busy_queue_alone(
    two_published: Uploader, settings: Settings
) -> None:
    settings.DOCUMENTS_QUEUE_MAX = 20
    for number in range(4):
        two_published.accepted(f"more-{number}", policy(parts=1, title=f"More {number}"))
    work()
    assert (backfilling.feed(NEW), backfilling.feed(NEW)) == (2, 0)
    assert depth() == live_depth()
    work()
    assert backfilling.feed(NEW) == 2
    work()
    for number in range(10):
        two_published.accepted(f"busy-{number}", policy(parts=1, title=f"Busy {number}"))
    assert backfilling.feed(NEW) == 0
    work()
    while not backfilling.progress(NEW).is_complete:
        assert backfilling.feed(NEW)
        work()
    assert broken() == {}


def test_two_backfills_at_once_add_one_job_a_version(two_published: Uploader) -> None:
    added = at_once(3, lambda number: backfilling.feed(NEW))
    assert sum(added) == Reembedding.objects.count() == 2


def test_a_job_of_a_backfill_shows_its_document_and_counts_as_bulk_work(two_published: Uploader) -> None:
    backfill("--once")
    made = Job.objects.filter(kind="reembed_version").order_by("sequence").first()
    assert made is not None
    answer = Uploader("mei", "operate").get(f"/v1/jobs/{made.id}")
    assert (answer["kind"], answer["subject"]) == ("reembed_version", {"document": "returns", "version": 1})
    work()
    answer = Uploader("kwame", "operate").get(f"/v1/jobs/{made.id}")
    assert answer["progress"]["done"] == answer["progress"]["total"] > 4
    assert answer["provider_calls"] >= 2


def test_a_version_that_is_superseded_or_deleted_needs_no_new_vectors(two_published: Uploader) -> None:
    backfill("--once")
    two_published.accepted("returns", policy(changed=1))
    run(claim_one(lane="chat"))
    assert two_published.client.delete("/v1/documents/refunds").status_code == 204
    states = dict(Reembedding.objects.values_list("version__document__slug", "job__state"))
    assert states == {"returns": "queued", "refunds": "cancelled"}
    work()
    assert not ChunkVector.objects.filter(embedding_version=NEW.name).exists()
    assert found_in(NEW) == set()
    assert depth() == live_depth() == (0, 0, 0)
    assert broken() == {}


def test_a_version_that_is_superseded_while_it_is_embedded_anew_is_not_found_in_the_new_space(
    two_published: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    backfill("--once")
    two_published.accepted("returns", policy(changed=1))
    upload, held = claim_one(lane="chat"), claim_one(lane="embeddings")
    whole = embedding.ensure_vectors

    def publish_in_between(*given: Any) -> None:
        whole(*given)
        monkeypatch.setattr(embedding, "ensure_vectors", whole)
        run(upload)

    monkeypatch.setattr(embedding, "ensure_vectors", publish_in_between)
    run(held)
    assert job(held.id).state == job(upload.id).state == "succeeded"
    assert ("returns", 1) not in found_in(NEW) | found_in(OLD)
    assert broken() == {}


def test_a_failed_job_is_told_and_can_be_retried(two_published: Uploader, simulator: Simulator) -> None:
    backfill("--once")
    simulator.fault("embeddings", "status:400", times=100)
    work()
    with pytest.raises(CommandError, match="2 jobs failed for good"):
        backfill()
    simulator.reset()
    for made in Job.objects.filter(kind="reembed_version", state="failed"):
        two_published.post(f"/v1/jobs/{made.id}/retry", 202)
    work()
    assert backfill()["complete"] == 2


def test_the_list_shows_how_complete_each_embedding_version_is(two_published: Uploader) -> None:
    fill()
    out = io.StringIO()
    call_command("switchembedding", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == [OLD.name, NEW.name]
    assert lines[0].endswith("2 of 2 versions  used")


@pytest.mark.parametrize("dimension", ["0", "2001"])
def test_a_backfill_with_an_impossible_dimension_is_refused(db: None, dimension: str) -> None:
    with pytest.raises(CommandError, match="from 1 to 2000"):
        call_command("backfill", "--model", "embed-small", "--dimension", dimension)
