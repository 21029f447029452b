"""loadcorpus: the policies are published through the API, refusals are obeyed, failures are named."""

from collections.abc import Callable

import httpx
import pytest
from django.core.management import CommandError, call_command

from ingestion.corpus import corpus_documents
from ingestion.management.commands import loadcorpus
from ingestion.management.progress import Bar
from ingestion.submitting import client, sending
from ingestion.tests.pretended_api import PretendedApi, problem

TOTAL = len(corpus_documents())


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, waits: list[tuple[float, str]]) -> PretendedApi:
    """The command talks to this one."""
    pretended = PretendedApi()

    def connect(address: str, token: str, pause: Callable[[float, str], None]) -> client.Client:
        return client.Client(address, token, pause, pretended.transport)

    monkeypatch.setattr(loadcorpus, "Client", connect)
    monkeypatch.setattr(sending, "LOOK_SECONDS", 0.0)
    monkeypatch.setenv("LARKFIELD_TOKEN", "lk_good")
    return pretended


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """What would have been waited: seconds and reason."""
    found: list[tuple[float, str]] = []
    monkeypatch.setattr(Bar, "count_down", lambda self, seconds, reason: found.append((seconds, reason)))
    return found


def test_it_publishes_every_policy_under_its_own_name(api: PretendedApi, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("loadcorpus")
    assert capsys.readouterr().out == f"{TOTAL} documents are published.\n"
    assert api.files == {f"{slug}.md": text.encode() for slug, text in corpus_documents().items()}


def test_it_uploads_nothing_a_second_time(api: PretendedApi, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("loadcorpus")
    call_command("loadcorpus")
    assert len(api.uploads) == TOTAL
    assert f"{TOTAL} documents are already published." in capsys.readouterr().out


def test_it_waits_for_what_an_earlier_run_has_sent(api: PretendedApi) -> None:
    call_command("loadcorpus", "--no-wait")
    assert {state for _, state in api.jobs.values()} == {"queued"}
    call_command("loadcorpus")
    assert len(api.uploads) == TOTAL
    assert {state for _, state in api.jobs.values()} == {"succeeded"}


def test_it_sends_only_the_policies_that_differ(api: PretendedApi) -> None:
    call_command("loadcorpus")
    changed = sorted(corpus_documents())[3]
    api.hashes[changed][-1] = "0" * 64
    call_command("loadcorpus")
    assert api.uploads[TOTAL:] == [changed]


def test_it_comes_back_when_a_refusal_says(api: PretendedApi, waits: list[tuple[float, str]]) -> None:
    api.refusals.append(problem(503, "queue_full", "Full.", Retry_After="17"))
    api.refusals.append(problem(429, "rate_limited", "Too many.", Retry_After="3"))
    call_command("loadcorpus")
    assert waits == [(17.0, "queue full"), (3.0, "rate limited")]
    assert len(api.uploads) == TOTAL


def test_a_lost_answer_is_asked_for_again_under_the_same_key(api: PretendedApi, waits: list[tuple[float, str]]) -> None:
    api.refusals.append(httpx.ReadTimeout("cut"))
    call_command("loadcorpus")
    assert len(waits) == 1
    assert len(api.keys) == TOTAL


def test_it_gives_up_on_an_api_that_never_answers(api: PretendedApi, waits: list[tuple[float, str]]) -> None:
    api.refusals.extend(httpx.ConnectError("refused") for _ in range(client.FAULT_TRIES))
    with pytest.raises(CommandError, match=r"does not answer .*5 times"):
        call_command("loadcorpus")
    assert len(waits) == client.FAULT_TRIES - 1


def test_a_failed_job_is_named(api: PretendedApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.ending = "dead_letter"
    with pytest.raises(CommandError, match=f"{TOTAL} of {TOTAL} documents are not published"):
        call_command("loadcorpus")
    first = sorted(corpus_documents())[0]
    assert f"{first}: job job-{first}-1 dead_letter: The file is damaged." in capsys.readouterr().err


def test_it_needs_a_token(api: PretendedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARKFIELD_TOKEN", "lk_wrong")
    with pytest.raises(CommandError, match="401 A valid token is needed"):
        call_command("loadcorpus")
    monkeypatch.delenv("LARKFIELD_TOKEN")
    with pytest.raises(CommandError, match="LARKFIELD_TOKEN is not set"):
        call_command("loadcorpus")


@pytest.mark.parametrize("address", ["nowhere", "ftp://host", "http://", "http://[::1"])
def test_an_address_that_is_none_is_said_to_be_none(address: str, api: PretendedApi) -> None:
    with pytest.raises(CommandError, match="--api is"):
        call_command("loadcorpus", "--api", address)
