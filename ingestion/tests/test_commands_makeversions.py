"""makeversions: later editions as files, or through the API under keys that make a second run a replay."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ingestion.management.commands import makeversions
from ingestion.management.progress import Bar
from ingestion.submitting import client
from ingestion.tests.pretended_api import PretendedApi, problem


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> PretendedApi:
    """The command talks to this one, and waits for nothing."""
    pretended = PretendedApi()

    def connect(address: str, token: str, pause: Callable[[float, str], None]) -> client.Client:
        return client.Client(address, token, pause, pretended.transport)

    monkeypatch.setattr(makeversions, "Client", connect)
    monkeypatch.setattr(Bar, "count_down", lambda self, seconds, reason: None)
    monkeypatch.setenv("LARKFIELD_TOKEN", "lk_good")
    return pretended


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_writes_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        call_command("makeversions", seed=seed, count=40, out=str(tmp_path / name))
    first = files(tmp_path / "first")
    assert len(first) == 40
    assert first == files(tmp_path / "again")
    assert set(first.values()).isdisjoint(files(tmp_path / "other").values())


def test_an_upload_is_refused_accepted_and_counted(api: PretendedApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.refusals.append(problem(503, "queue_full", "Full.", Retry_After="2"))
    call_command("makeversions", seed=5, count=4, upload=True)
    assert "accepted 4, refused-then-accepted 1, replayed 0" in capsys.readouterr().out
    assert all(key.startswith("makeversions-5-") for key in api.keys)


def test_a_second_run_is_a_replay(api: PretendedApi, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("makeversions", seed=5, count=4, upload=True)
    call_command("makeversions", seed=5, count=4, upload=True)
    assert "accepted 4, refused-then-accepted 0, replayed 4" in capsys.readouterr().out
    assert len(api.uploads) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 1}, "Choose one"),
        ({"count": 1, "upload": True, "out": "anywhere"}, "Choose one"),
        ({"count": 0, "upload": True}, "--count must be at least 1"),
        ({"count": 1, "out": "/dev/null/folder"}, "can't be written"),
    ],
)
def test_what_makes_no_sense_is_an_error(options: dict[str, object], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("makeversions", seed=1, **options)


def test_an_upload_that_is_wrong_ends_the_run(api: PretendedApi) -> None:
    api.refusals.append(problem(413, "too_large", "A file may have at most 10 bytes."))
    with pytest.raises(CommandError, match="was not accepted: 413 A file may have at most 10 bytes"):
        call_command("makeversions", seed=1, count=1, upload=True)
