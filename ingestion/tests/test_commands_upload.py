"""upload: a folder's documents are sent once each, refusals are obeyed, a row says what became of each file."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from ingestion.management.commands import upload
from ingestion.management.progress import Bar
from ingestion.submitting import client, sending
from ingestion.submitting.folder import documents, slug_of
from ingestion.tests.pretended_api import PretendedApi, problem


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """What would have been waited: seconds and reason."""
    found: list[tuple[float, str]] = []
    monkeypatch.setattr(Bar, "count_down", lambda self, seconds, reason: found.append((seconds, reason)))
    return found


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, waits: list[tuple[float, str]]) -> PretendedApi:
    """The command talks to this one."""
    pretended = PretendedApi()

    def connect(address: str, token: str, pause: Callable[[float, str], None]) -> client.Client:
        return client.Client(address, token, pause, pretended.transport)

    monkeypatch.setattr(upload, "Client", connect)
    monkeypatch.setattr(sending, "LOOK_SECONDS", 0.0)
    monkeypatch.setenv("LARKFIELD_TOKEN", "lk_good")
    return pretended


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """Three documents, one of them deeper, and what is none."""
    write(tmp_path / "Returns & refunds.md", "# Returns\n")
    write(tmp_path / "opening-hours.txt", "Open from nine.\n")
    write(tmp_path / "eu" / "warranty.html", "<h1>Warranty</h1>")
    for name in ("photo.jpg", ".hidden.md", ".git/config.md"):
        write(tmp_path / name, "x")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, Any]]:
    """The rows of a run by slug, also of one that ends with a failure."""
    with suppress(CommandError):
        call_command("upload", *arguments, "--json")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert set(lines[-1]) == {"files", "outcomes"}
    return {line["slug"]: line for line in lines[:-1]}


def test_each_document_is_sent_under_the_slug_of_its_name(
    api: PretendedApi, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("upload", str(policies))
    assert sorted(api.uploads) == ["opening-hours", "returns-refunds", "warranty"]
    assert set(api.files) == {"Returns & refunds.md", "opening-hours.txt", "warranty.html"}
    out = capsys.readouterr().out
    assert "accepted   Returns & refunds.md → returns-refunds version 1" in out
    assert out.endswith("3 files: 3 accepted.\n")


def test_a_second_run_sends_nothing_again_and_a_changed_file_is_a_new_version(
    api: PretendedApi, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(capsys, str(policies), "--wait")
    assert {row["outcome"] for row in rows(capsys, str(policies)).values()} == {"unchanged"}
    write(policies / "opening-hours.txt", "Open from ten.\n")
    found = rows(capsys, str(policies))
    assert (found["opening-hours"]["outcome"], found["opening-hours"]["version"]) == ("accepted", 2)
    assert len(api.uploads) == 4


def test_an_earlier_edition_that_comes_back_is_a_version_of_its_own(
    api: PretendedApi, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate(("nine", "ten", "nine"), start=1):
        write(policies / "opening-hours.txt", f"Open from {text}.\n")
        assert rows(capsys, str(policies), "--wait")["opening-hours"]["version"] == number


def test_it_comes_back_when_a_refusal_says_with_the_same_key(
    api: PretendedApi, policies: Path, waits: list[tuple[float, str]]
) -> None:
    api.refusals.append(problem(503, "queue_full", "Full.", Retry_After="17"))
    api.refusals.append(problem(429, "rate_limited", "Too many.", Retry_After="3"))
    api.refusals.append(httpx.ReadTimeout("cut"))
    call_command("upload", str(policies))
    assert waits[:2] == [(17.0, "queue full"), (3.0, "rate limited")]
    assert (len(waits), len(api.keys), len(api.uploads)) == (3, 3, 3)


def test_what_is_refused_for_good_is_named_and_the_others_are_sent(
    api: PretendedApi, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.refusals.append(problem(415, "unsupported_type", "Not this type."))
    with pytest.raises(CommandError, match="1 of 3 files are not taken") as error:
        call_command("upload", str(policies))
    assert error.value.returncode == 1
    assert (
        "refused    Returns & refunds.md → returns-refunds: returns-refunds was not accepted: 415 Not this type."
        in (capsys.readouterr().out)
    )
    assert len(api.uploads) == 2


def test_with_wait_each_is_followed_to_its_end(
    api: PretendedApi, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {row["outcome"] for row in rows(capsys, str(policies), "--wait").values()} == {"published"}
    api.ending = "failed"
    write(policies / "opening-hours.txt", "Open from ten.\n")
    found = rows(capsys, str(policies), "--wait")
    assert (found["opening-hours"]["outcome"], found["warranty"]["outcome"]) == ("failed", "unchanged")
    assert "The file is damaged" in found["opening-hours"]["detail"]


def test_an_interruption_says_how_far_it_came(
    api: PretendedApi, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Bar, seconds: float, reason: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "count_down", interrupt)
    api.refusals.append(problem(503, "queue_full", "Full.", Retry_After="17"))
    with pytest.raises(CommandError, match="Interrupted after 0 of 3 files") as error:
        call_command("upload", str(policies))
    assert error.value.returncode == 130


@pytest.mark.parametrize(
    ("token", "code", "words"), [("", 2, "LARKFIELD_TOKEN is not set"), ("lk_wrong", 1, "401 A valid token is needed")]
)
def test_a_missing_token_is_a_matter_of_usage_and_a_wrong_one_of_the_api(
    api: PretendedApi, policies: Path, monkeypatch: pytest.MonkeyPatch, token: str, code: int, words: str
) -> None:
    monkeypatch.setenv("LARKFIELD_TOKEN", token)
    with pytest.raises(CommandError, match=words) as error:
        call_command("upload", str(policies))
    assert error.value.returncode == code


def test_a_folder_without_documents_is_a_matter_of_usage(api: PretendedApi, tmp_path: Path) -> None:
    write(tmp_path / "photo.jpg", "x")
    for place in (tmp_path, tmp_path / "nothing", tmp_path / "photo.jpg"):
        with pytest.raises(CommandError) as error:
            call_command("upload", str(place))
        assert error.value.returncode == 2


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for name in ("eu/returns.md", "uk/returns.md", "a b.md", "a-b.txt", "?.md"):
        write(tmp_path / name, "x")
    found = {one.name: (one.slug, bool(one.problem)) for one in documents(tmp_path)}
    assert found["eu/returns.md"] == ("eu-returns", False)
    assert found["uk/returns.md"] == ("uk-returns", False)
    assert [found["a b.md"], found["a-b.txt"]] == [("a-b", False), ("a-b", True)]
    assert found["?.md"] == ("", True)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Rückgabe & Größe", "rueckgabe-groesse"),
        ("Crème brûlée", "creme-brulee"),
        ("e\u0301te\u0301", "ete"),
        ("x" * 120, "x" * 100),
        ("§§", ""),
    ],
)
def test_a_slug_is_made_of_the_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug
