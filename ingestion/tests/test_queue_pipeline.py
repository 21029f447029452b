"""A document's job, run by the worker's own code against the simulator: resumed, reused, published in order."""

from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import Settings

from ingestion.models import Chunk, ChunkVector, Corpus, DocumentVersion, ProviderCall, Summary
from ingestion.pipeline import embedding, publishing, splitting, summarizing
from ingestion.queue import settling, sweeping
from ingestion.tests.making import Uploader, claim_one, depth, job, live_depth, make_ready, run, run_out, work
from ingestion.tests.simulated import Simulator
from ingestion.worker.loop import Loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

PARTS = 12


def policy(changed: int | None = None, parts: int = PARTS, title: str = "Returns") -> bytes:
    """A policy of some chunks, no two alike; `changed` names a part with other words in it."""
    text = f"# {title}\n\n"
    for part in range(parts):
        word = "changed" if part == changed else "sold"
        lines = (f"Goods {word} under rule {part}-{line} go back within {line + 7} days. " for line in range(20))
        text += f"## Part {part}\n\n{''.join(lines)}\n\n"
    return text.encode()


@pytest.fixture
def omar(simulator: Simulator, settings: Settings) -> Uploader:
    # A question's share would make bulk work wait in a test of many calls.
    settings.QUESTION_SHARE = 0.0
    settings.EMBEDDING_BATCH_INPUTS = 4
    return Uploader("omar", "upload", "operate")


def inputs(simulator: Simulator) -> int:
    """How many texts the provider was given to embed, by its own ledger."""
    return sum(call["inputs"] for call in simulator.ledger()["calls"] if call["path"].endswith("embeddings"))


def chats(simulator: Simulator) -> int:
    return sum(call["path"].endswith("completions") for call in simulator.ledger()["calls"])


def counts() -> tuple[int, ...]:
    """How much the pipeline has made, and how often something was published."""
    made = (model.objects.count() for model in (Chunk, ChunkVector, Summary))
    return (*made, Corpus.objects.get().generation)


def assert_complete(number: int = 1) -> DocumentVersion:
    """Chunks 0 to n - 1, each with one vector, one summary, and all of it searchable."""
    version = DocumentVersion.objects.get(number=number)
    chunks = Chunk.objects.filter(version=version)
    assert list(chunks.order_by("position").values_list("position", flat=True)) == list(range(version.chunk_count or 0))
    assert chunks.count() == ChunkVector.objects.filter(chunk__version=version).count() > 0
    assert Summary.objects.filter(job_id=version.job_id).count() == 1
    assert not chunks.filter(is_searchable=False).exists()
    return version


def test_an_upload_is_worked_off_by_a_worker_until_nothing_is_left(omar: Uploader) -> None:
    accepted = omar.accepted(content=policy())
    assert Loop(["documents"], 2, 1.0, once=True).run() == 0
    assert_complete()
    found = omar.get(accepted["job"]["url"])
    assert (found["state"], found["attempt"], found["generation"]) == ("succeeded", 1, 1)
    assert found["progress"]["done"] == found["progress"]["total"] > 4
    assert found["provider_calls"] == ProviderCall.objects.count() > 2
    assert depth() == (0, 0, 0)


# --- resuming -------------------------------------------------------------------------------------------------------


def crash_after(monkeypatch: pytest.MonkeyPatch, module: object, name: str, calls: int = 1) -> None:
    """The process ends, without a settlement, after `name` has succeeded so many times."""
    real = getattr(module, name)
    left = [calls]

    def crashing(*arguments: object) -> object:
        found = real(*arguments)
        left[0] -= 1
        if left[0] == 0:
            raise SystemExit("killed")
        return found

    monkeypatch.setattr(module, name, crashing)


CRASHES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "after the chunks": lambda patch: crash_after(patch, splitting, "ensure_chunks"),
    "after the summary": lambda patch: crash_after(patch, summarizing, "ensure_summary"),
    "after some vectors": lambda patch: crash_after(patch, embedding, "_save", calls=2),
    "after all vectors": lambda patch: crash_after(patch, embedding, "ensure_vectors"),
    "in the middle of publishing": lambda patch: crash_after(patch, publishing, "bump_corpus"),
}


@pytest.mark.parametrize("crash", CRASHES)
def test_a_crash_resumes_at_the_first_missing_output_and_pays_nothing_twice(
    omar: Uploader, simulator: Simulator, monkeypatch: pytest.MonkeyPatch, crash: str
) -> None:
    accepted = omar.accepted(content=policy())
    with monkeypatch.context() as patch:
        CRASHES[crash](patch)
        dead = claim_one()
        with pytest.raises(SystemExit):
            run(dead)
    assert not Chunk.objects.filter(is_searchable=True).exists()
    run_out(dead)
    assert [state for _, state, _ in sweeping.rescue()] == ["queued"]
    work()
    version = assert_complete()
    assert inputs(simulator) == version.chunk_count
    assert chats(simulator) == 1
    found = omar.get(accepted["job"]["url"])
    assert (found["state"], found["attempt"], found["generation"]) == ("succeeded", 2, 2)


def test_a_second_delivery_of_the_same_job_adds_nothing(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted(content=policy())
    first = claim_one("slow")
    run_out(first)
    sweeping.rescue()
    second = claim_one("quick")
    assert run(second) is True
    before = counts()
    calls = simulator.ledger()["totals"]["calls"]
    assert run(first) is False
    assert counts() == before
    assert simulator.ledger()["totals"]["calls"] == calls
    assert_complete()


def test_a_worker_that_lost_its_claim_in_the_middle_saves_nothing_more(
    omar: Uploader, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    omar.accepted(content=policy())
    late = claim_one("slow")
    real = embedding._save
    saved: list[int] = []

    def save(*arguments: object) -> None:
        if not saved:
            run_out(late)
            sweeping.rescue()
        saved.append(1)
        real(*arguments)  # type: ignore[arg-type]  # handed through as they came

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "_save", save)
        assert run(late) is False
    assert len(saved) == 1
    assert not ChunkVector.objects.exists()
    assert late.lost.is_set()
    work()
    assert_complete()


# --- reuse ----------------------------------------------------------------------------------------------------------


def test_the_same_text_again_costs_no_call(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted(content=policy())
    work()
    before = simulator.ledger()["totals"]["calls"]
    omar.accepted(content=policy())
    work()
    assert simulator.ledger()["totals"]["calls"] == before
    version = assert_complete(2)
    assert Summary.objects.get(job_id=version.job_id).is_reused
    assert omar.get("/v1/documents/returns/versions/2")["cost_usd"] == "0.000000"


def test_without_reuse_every_version_is_embedded_whole(
    omar: Uploader, simulator: Simulator, settings: Settings
) -> None:
    settings.VECTOR_REUSE = "off"
    omar.accepted(content=policy())
    work()
    whole = inputs(simulator)
    omar.accepted(content=policy())
    work()
    assert inputs(simulator) == 2 * whole
    assert_complete(2)


def test_chunks_of_the_same_words_are_embedded_once(omar: Uploader, simulator: Simulator, settings: Settings) -> None:
    omar.accepted("plain", b"One sentence of a policy, said again and again. " * 400, media_type="text/plain")
    work()
    distinct = Chunk.objects.values("input_hash").distinct().count()
    assert inputs(simulator) == distinct <= Chunk.objects.count()


@pytest.mark.parametrize("changed", [0, PARTS // 2, PARTS - 1])
def test_a_small_edit_costs_few_embeddings_wherever_it_is(omar: Uploader, simulator: Simulator, changed: int) -> None:
    omar.accepted(content=policy())
    work()
    whole = inputs(simulator)
    omar.accepted(content=policy(changed))
    work()
    assert 1 <= inputs(simulator) - whole <= 4
    assert assert_complete(2).chunk_count is not None


def test_an_edit_of_a_long_policy_costs_no_more_than_one_of_a_short_policy(
    omar: Uploader, simulator: Simulator
) -> None:
    costs = []
    for slug, parts in (("short", 6), ("long", 36)):
        omar.accepted(slug, policy(parts=parts))
        work()
        before = inputs(simulator)
        omar.accepted(slug, policy(3, parts=parts))
        work()
        costs.append(inputs(simulator) - before)
    assert costs[1] <= costs[0] + 1


# --- the order of versions ------------------------------------------------------------------------------------------


def published(omar: Uploader) -> int | None:
    found = omar.get("/v1/documents/returns")["published"]
    return found["number"] if found else None


def searchable() -> set[int]:
    return set(Chunk.objects.filter(is_searchable=True).values_list("version__number", flat=True))


def test_the_published_version_only_moves_to_a_higher_number(omar: Uploader) -> None:
    for changed in (None, 1, 2):
        omar.accepted(content=policy(changed))
    first, second, third = (claim_one() for _ in range(3))
    run(first)
    run(third)
    assert published(omar) == 3
    generation = Corpus.objects.get().generation
    assert run(second) is True
    assert published(omar) == 3
    assert searchable() == {3}
    assert [row["state"] for row in omar.get("/v1/documents/returns/versions")["results"]] == [
        "published", "superseded", "superseded",
    ]  # fmt: skip
    assert job(second.id).state == "succeeded"
    assert Corpus.objects.get().generation == generation


def test_a_version_that_fails_never_replaces_the_published_one(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted(content=policy())
    work()
    omar.accepted(content=policy(1))
    found = claim_one()
    simulator.fault("embeddings", "status:400", times=50)
    run(found)
    row = omar.get("/v1/documents/returns/versions/2")
    assert (row["state"], row["job"]["state"]) == ("failed", "failed")
    assert published(omar) == 1
    assert searchable() == {1}
    assert depth() == live_depth() == (0, 0, 0)


def test_an_incomplete_version_is_never_published(omar: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    omar.accepted(content=policy())
    found = claim_one()
    with monkeypatch.context() as patch:
        patch.setattr(embedding, "ensure_vectors", lambda claim, version: None)
        run(found)
    row = job(found.id)
    assert (row.state, row.error_code) == ("queued", "incomplete_version")
    assert searchable() == set()
    make_ready()
    work()
    assert_complete()


def test_a_version_that_was_deleted_is_never_published_also_when_its_job_came_alive_again(omar: Uploader) -> None:
    omar.accepted(content=policy())
    found = claim_one()
    DocumentVersion.objects.update(deleted_at="2026-01-01T00:00:00Z")
    assert run(found) is True
    assert (job(found.id).state, job(found.id).error_code) == ("failed", "document_deleted")
    assert searchable() == set()
    assert depth() == (0, 0, 0)


def test_a_stored_file_that_was_changed_is_refused_with_its_reason(omar: Uploader, files: object) -> None:
    omar.accepted(content=policy())
    key = DocumentVersion.objects.get().storage_key
    default_storage.delete(key)
    default_storage.save(key, ContentFile(b"something else"))
    found = claim_one()
    run(found)
    assert (job(found.id).state, job(found.id).error_code) == ("failed", "file_damaged")


def test_progress_is_shown_while_a_job_runs(omar: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    omar.accepted(content=policy())
    with monkeypatch.context() as patch:
        crash_after(patch, embedding, "_save", calls=1)
        found = claim_one()
        with pytest.raises(SystemExit):
            run(found)
    row = job(found.id)
    assert (row.progress_done, row.lane) == (ChunkVector.objects.count(), "embeddings")
    assert 0 < row.progress_done < row.progress_total
    settling.give_back(found)
