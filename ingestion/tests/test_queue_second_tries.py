"""What an earlier, unfinished try may leave behind: nothing that is taken for done, nothing of another embedding."""

import pytest
from pytest_django import Settings

from ingestion.models import Chunk, ChunkVector, DocumentVersion, embedding_version
from ingestion.pipeline import embedding
from ingestion.queue import sweeping
from ingestion.tests.making import Uploader, claim_one, run, run_out, work
from ingestion.tests.simulated import Simulator
from ingestion.tests.test_queue_pipeline import crash_after, inputs, policy, published, searchable

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


@pytest.fixture
def omar(simulator: Simulator, settings: Settings) -> Uploader:
    settings.QUESTION_SHARE = 0.0
    settings.EMBEDDING_BATCH_INPUTS = 4
    return Uploader("omar", "upload", "operate")


def test_a_text_whose_first_version_failed_is_worked_anew_and_published(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted(content=policy())
    simulator.fault("embeddings", "status:400", times=100)
    work()
    assert omar.get("/v1/documents/returns/versions/1")["state"] == "failed"
    assert published(omar) is None
    simulator.reset()
    omar.accepted(content=policy())
    work()
    assert published(omar) == 2
    assert searchable() == {2}
    assert inputs(simulator) == Chunk.objects.filter(version__number=2).count() > 4


def test_when_the_dimension_changes_midway_the_old_version_serves_until_the_new_one_has_all_its_vectors_under_it(
    omar: Uploader, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    omar.accepted(content=policy())
    work()
    omar.accepted(content=policy(title="Other goods"))
    with monkeypatch.context() as patch:
        crash_after(patch, embedding, "_save", calls=2)
        dead = claim_one()
        with pytest.raises(SystemExit):
            run(dead)
    settings.EMBEDDING_DIMENSION = 64
    assert (published(omar), searchable()) == (1, {1})
    run_out(dead)
    sweeping.rescue()
    work()
    version = DocumentVersion.objects.get(number=2)
    assert (published(omar), searchable()) == (2, {2})
    vectors = ChunkVector.objects.filter(chunk__version=version, embedding_version=embedding_version())
    assert vectors.count() == version.chunk_count
    assert {len(one.vector) for one in vectors} == {64}
