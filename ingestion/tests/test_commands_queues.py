"""retryjob, drain, resume and queuewatch: what an operator does to the queues from a shell."""

import io
import json
import uuid

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from ingestion import standing
from ingestion.models import Caller, DocumentVersion, Job, JobOutcome, QueueState
from ingestion.queue import controlling
from ingestion.tests import making

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def omar() -> Caller:
    return making.make_caller()


def bury(*jobs: uuid.UUID, state: str = "dead_letter") -> None:
    """The jobs have ended in this state, their places are free."""
    controlling.cancel(jobs)
    Job.objects.filter(id__in=jobs).update(state=state)
    JobOutcome.objects.filter(job__in=jobs).update(outcome=state)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_dead_letter_is_queued_with_a_fresh_budget_and_its_place(omar: Caller) -> None:
    job = making.make_job(omar)
    bury(job)
    making.change_job(job, attempt=5)
    assert run("retryjob", str(job)) == f"Job {job} is queued again.\n"
    assert (making.job(job).state, making.job(job).attempt) == ("queued", 0)
    assert making.depth() == making.live_depth() == (1, 10, 100)


def test_a_live_unknown_or_deleted_job_is_an_error(omar: Caller) -> None:
    job = making.make_job(omar)
    with pytest.raises(CommandError, match=f"job {job} is queued"):
        run("retryjob", str(job))
    with pytest.raises(CommandError, match="There is no job"):
        run("retryjob", str(uuid.uuid4()))
    with pytest.raises(CommandError, match="is no job's id"):
        run("retryjob", "seven")


@pytest.mark.parametrize("arguments", [[], ["--all"], ["--queue", "events"], ["7", "--all", "--queue", "events"]])
def test_retryjob_wants_a_job_or_a_queue(arguments: list[str], omar: Caller) -> None:
    with pytest.raises(CommandError, match="Give a job's id, or --all with --queue"):
        run("retryjob", *arguments)


def test_all_dead_letters_of_a_queue_come_back_and_no_failed_job(omar: Caller) -> None:
    dead, failed = [making.make_job(omar) for _ in range(3)], making.make_job(omar)
    bury(*dead)
    bury(failed, state="failed")
    assert run("retryjob", "--all", "--queue", "documents") == "3 of 3 dead letters are queued again.\n"
    assert making.job(failed).state == "failed"
    assert run("retryjob", "--all", "--queue", "documents") == "0 of 0 dead letters are queued again.\n"


def test_without_a_worker_that_makes_room_it_stops_and_says_how_many_are_left(omar: Caller, settings: Settings) -> None:
    bury(*[making.make_job(omar) for _ in range(5)])
    settings.DOCUMENTS_QUEUE_MAX = 8
    making.make_job(omar)
    with pytest.raises(CommandError, match=r"2 of 5 dead letters are queued again, 3 left: .*no worker runs"):
        run("retryjob", "--all", "--queue", "documents")
    assert making.depth() == making.live_depth()
    assert Job.objects.filter(state="dead_letter").count() == 3


def test_the_job_of_a_deleted_document_stays_dead(files: object, capsys: pytest.CaptureFixture[str]) -> None:
    job = uuid.UUID(making.Uploader().accepted()["job"]["id"])
    bury(job)
    DocumentVersion.objects.update(deleted_at="2026-01-01T00:00:00Z")
    with pytest.raises(CommandError, match="was deleted"):
        run("retryjob", str(job))
    assert run("retryjob", "--all", "--queue", "documents") == "0 of 1 dead letters are queued again.\n"
    assert "was deleted" in capsys.readouterr().err


def test_a_drained_queue_accepts_nothing_until_it_is_resumed(omar: Caller) -> None:
    assert "is empty and accepts nothing" in run("drain", "documents")
    with pytest.raises(controlling.QueueFull):
        making.make_job(omar)
    assert run("resume", "documents") == "The queue 'documents' accepts again.\n"
    assert run("resume", "documents") == "The queue 'documents' accepts; it was not draining.\n"
    making.make_job(omar)


def test_drain_waits_until_the_queue_is_empty(omar: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [making.make_job(omar) for _ in range(3)]
    monkeypatch.setattr(
        "ingestion.management.commands.drain.time.sleep", lambda seconds: controlling.cancel([jobs.pop()])
    )
    assert "is empty" in run("drain", "documents")
    assert jobs == []


def test_drain_that_is_out_of_time_or_interrupted_leaves_it_draining(
    omar: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.make_job(omar)
    with pytest.raises(CommandError, match="1 jobs are left; manage"):
        run("drain", "documents", "--timeout", "0")

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ingestion.management.commands.drain.time.sleep", interrupt)
    with pytest.raises(CommandError, match="Interrupted") as error:
        run("drain", "documents")
    assert error.value.returncode == 130
    assert QueueState.objects.get(queue="documents").is_draining


def test_queuewatch_shows_the_numbers_of_the_queue_route(omar: Caller) -> None:
    making.make_job(omar)
    lines = [json.loads(line) for line in run("queuewatch", "--seconds", "1", "--json").splitlines()]
    assert [line["queue"] for line in lines] == ["documents", "events"]
    keys = set(standing.queue_numbers("documents"))
    assert set(lines[0]) == keys | {"at", "queue"}
    assert (lines[0]["queued"], lines[1]["queued"]) == (1, 0)


def test_queuewatch_shows_one_queue_once_a_second(omar: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.management.commands.queuewatch.time.sleep", lambda seconds: None)
    lines = run("queuewatch", "--seconds", "3", "--queue", "events").splitlines()
    assert len(lines) == 3
    assert all("events" in line and "accepting" in line for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [["drain", "mail"], ["resume", "mail"], ["queuewatch", "--queue", "mail"], ["retryjob", "--all", "--queue", "m"]],
)
def test_an_unknown_queue_is_named_with_those_that_are(arguments: list[str], omar: Caller) -> None:
    with pytest.raises(CommandError, match=r"Unknown queue .*documents, events"):
        run(*arguments)
