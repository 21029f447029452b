"""What the provider does wrong, and who pays: its faults cost the job a try only where they are the answer's own."""

from collections import Counter

import pytest
from pytest_django import Settings

from ingestion.models import ChunkVector, Job, ProviderLane, ProviderState
from ingestion.provider import client
from ingestion.provider.errors import ProviderRefused
from ingestion.tests.making import Uploader, claim_one, claims, depth, job, live_depth, make_ready, run, work
from ingestion.tests.simulated import Simulator
from ingestion.tests.test_queue_pipeline import assert_complete, inputs, policy
from ingestion.worker import lanes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

PAST = "2026-01-01T00:00:00Z"


@pytest.fixture
def omar(simulator: Simulator, settings: Settings) -> Uploader:
    settings.QUESTION_SHARE = 0.0
    settings.EMBEDDING_BATCH_INPUTS = 64
    settings.BREAKER_FAILURES = 3
    return Uploader("omar", "upload", "operate")


def finish_all() -> None:
    """Runs everything to its end, whatever it waits for."""
    for _ in range(20):
        make_ready()
        if not work():
            return


def test_embeddings_in_another_order_are_put_right(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted("straight", policy())
    work()
    straight = vectors("straight")
    ChunkVector.objects.all().delete()
    simulator.fault("embeddings", "shuffled")
    omar.accepted("returns", policy())
    work()
    assert vectors("returns") == straight


def vectors(slug: str) -> list[list[float]]:
    rows = ChunkVector.objects.filter(chunk__version__document__slug=slug).order_by("chunk__position")
    return [list(row.vector) for row in rows]


@pytest.mark.parametrize("fault", ["short", "duplicate_index", "error_body_200", "wrong_dimension", "nan", "zero"])
def test_a_malformed_answer_charges_its_own_job_stores_nothing_wrong_and_opens_no_breaker(
    omar: Uploader, simulator: Simulator, fault: str
) -> None:
    omar.accepted(content=policy())
    found = claim_one()
    simulator.fault("embeddings", fault)
    run(found)
    row = job(found.id)
    assert (row.state, row.attempt, row.waiting_for) == ("queued", 1, "backoff")
    assert row.error_code.startswith(("provider_", "bad_vector"))
    assert ProviderState.objects.get().state == "closed"
    assert all(len(vector) == 384 and any(vector) for vector in vectors("returns"))
    finish_all()
    assert_complete()
    assert job(found.id).attempt == 2


@pytest.mark.parametrize("fault", ["nan", "zero"])
def test_one_bad_vector_is_asked_for_again_alone(omar: Uploader, simulator: Simulator, fault: str) -> None:
    omar.accepted(content=policy())
    simulator.fault("embeddings", fault)
    found = claim_one()
    run(found)
    stored, asked = ChunkVector.objects.count(), inputs(simulator)
    assert 0 < stored < asked
    finish_all()
    assert inputs(simulator) - asked == asked - stored
    assert_complete()


def test_a_vector_that_stays_bad_ends_in_a_dead_letter_with_a_clear_reason(
    omar: Uploader, simulator: Simulator, settings: Settings
) -> None:
    settings.MAX_ATTEMPTS = 3
    omar.accepted(content=policy())
    simulator.fault("embeddings", "nan", times=50)
    finish_all()
    row = Job.objects.get()
    assert (row.state, row.attempt, row.error_code) == ("dead_letter", 3, "bad_vector")
    assert "unusable" in row.error_detail
    assert depth() == (0, 0, 0)


def test_one_refused_input_is_isolated_and_its_neighbours_keep_their_vectors(
    omar: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = client.embed

    def embed(texts: list[str], **options: object) -> object:
        if any("rule 5-3 " in text for text in texts):
            raise ProviderRefused("this input is not accepted")
        return real(texts, **options)  # type: ignore[arg-type]  # handed through as they came

    monkeypatch.setattr(client, "embed", embed)
    omar.accepted(content=policy())
    found = claim_one()
    run(found)
    row = job(found.id)
    assert (row.state, row.error_code) == ("failed", "provider_refused")
    assert row.progress_total - ChunkVector.objects.count() == 1


@pytest.mark.parametrize(("fault", "word"), [("insufficient_quota", "quota"), ("unauthorized", "key")])
@pytest.mark.parametrize("path", ["chat/completions", "embeddings"])
def test_a_matter_for_a_person_pauses_the_lane_with_its_reason_and_charges_nobody(
    omar: Uploader, simulator: Simulator, fault: str, word: str, path: str
) -> None:
    accepted = omar.accepted(content=policy())
    found = claim_one()
    simulator.fault(path, fault)
    run(found)
    row = job(found.id)
    assert (row.state, row.attempt, row.waiting_for) == ("queued", 0, "provider_quota")
    provider = omar.get("/v1/queue")["provider"]
    assert provider["state"] == "paused"
    assert word in provider["reason"]
    assert omar.get(accepted["job"]["url"])["waiting_for"] == "provider_quota"
    lane = "chat" if path.startswith("chat") else "embeddings"
    assert lane not in dict(lanes.plan(10, Counter()).rooms)
    ProviderLane.objects.filter(name=lane).update(paused_until=PAST)
    assert dict(lanes.plan(10, Counter()).rooms)[lane] == 1
    finish_all()
    assert_complete()
    assert omar.get("/v1/queue")["provider"]["state"] == "ok"


def test_an_outage_charges_no_more_tries_than_the_breaker_allows(
    omar: Uploader, simulator: Simulator, settings: Settings
) -> None:
    for number in range(12):
        omar.accepted(f"d-{number}", policy(parts=2, title=f"Rules {number}"))
    simulator.mode("outage")
    for found in claims():
        run(found)
    charged = sum(Job.objects.values_list("attempt", flat=True))
    assert charged == settings.BREAKER_FAILURES
    assert Job.objects.filter(state="queued", waiting_for="provider_outage").count() == 12 - charged
    assert omar.get("/v1/queue")["provider"]["state"] == "open"
    assert lanes.plan(10, Counter()).rooms == []
    calls = simulator.ledger()["totals"]["calls"]
    for _ in range(5):
        # A probe that fails charges nobody.
        ProviderState.objects.update(open_until=PAST, probe_until=None)
        make_ready()
        run(claim_one())
    assert sum(Job.objects.values_list("attempt", flat=True)) == charged
    assert simulator.ledger()["totals"]["calls"] == calls + 5
    simulator.mode("normal")
    ProviderState.objects.update(open_until=PAST, probe_until=None)
    finish_all()
    assert set(Job.objects.values_list("state", flat=True)) == {"succeeded"}
    assert max(Job.objects.values_list("attempt", flat=True)) <= 2
    assert depth() == live_depth() == (0, 0, 0)


@pytest.mark.parametrize("fault", ["status:500", "status:503", "disconnect"])
def test_trouble_of_the_provider_is_retried_by_backoff(omar: Uploader, simulator: Simulator, fault: str) -> None:
    omar.accepted(content=policy())
    simulator.fault("chat/completions", fault)
    found = claim_one()
    run(found)
    row = job(found.id)
    assert (row.state, row.attempt, row.waiting_for) == ("queued", 1, "backoff")
    finish_all()
    assert_complete()


def test_a_429_spends_no_try_and_says_until_when(omar: Uploader, simulator: Simulator) -> None:
    simulator.mode("quota")
    for number in range(14):
        omar.accepted(f"d-{number}", policy(parts=1, title=f"Rules {number}"))
    for found in claims():
        run(found)
    waiting = list(Job.objects.filter(state="queued"))
    assert waiting
    assert all(row.attempt == 0 and row.waiting_for == "provider_quota" for row in waiting)
    assert all(row.ready_at > row.queued_at for row in waiting)
    assert not Job.objects.filter(error_code__gt="").exists()
    assert claims() == []


def test_this_minutes_quota_is_met_without_a_429(omar: Uploader, simulator: Simulator, settings: Settings) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 4
    for number in range(8):
        omar.accepted(f"d-{number}", policy(parts=1, title=f"Rules {number}"))
    for found in claims():
        run(found)
    assert Job.objects.filter(state="succeeded").count() == 4
    assert set(Job.objects.filter(state="queued").values_list("attempt", "waiting_for")) == {(0, "provider_quota")}
    assert simulator.ledger()["totals"]["by_status"].keys() <= {"200", 200}
