"""Wrong and contradictory values of the environment stop every start and are named, all at once, in plain lines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from larkfield import env
from larkfield.checks import check_connections
from larkfield.launch.errors import REFUSED

ROOT = Path(__file__).resolve().parent.parent.parent
# Addresses that nothing listens on: no check may need a server.
NOWHERE = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "VALKEY_URL": "redis://127.0.0.1:1/0"}
CHECK = ("manage.py", "check")
SERVE = ("-c", "import larkfield.wsgi")
# The first child of `make run` that reads the settings; it migrates.
PREPARE = ("-m", "larkfield.launch.preparing", "nowhere")


def start(directory: Path, command: tuple[str, ...], **values: str) -> tuple[int, str]:
    """The exit status and all output of a command under these variables alone."""
    found = {**NOWHERE, "LARKFIELD_DATA_DIR": str(directory), "PATH": os.environ["PATH"], **values}
    ended = subprocess.run([sys.executable, *command], cwd=ROOT, env=found, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture(autouse=True)
def no_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "refused", {})


@pytest.mark.parametrize("value", ("abc", "-1", "0", "5.5", "nan", "inf", "1e3", "9" * 30, "9" * 10_000, "true"))
def test_a_wrong_whole_number_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_LIMIT", value)
    assert env.whole("SOME_LIMIT", 7, least=1) == 7
    assert env.refused["SOME_LIMIT"].startswith(f"SOME_LIMIT is {value[:80]!r}: it must be a whole number from 1 to ")


@pytest.mark.parametrize("value", ("abc", "-0.1", "nan", "inf", "-inf", "1e300", "10 s"))
def test_a_wrong_duration_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_SECONDS", value)
    assert env.seconds("SOME_SECONDS", 7) == 7
    assert "SOME_SECONDS" in env.refused


@pytest.mark.parametrize(("value", "read"), (("", 7.0), ("  ", 7.0), (" 0.25 ", 0.25), ("3", 3.0)))
def test_an_empty_value_means_the_default(monkeypatch: pytest.MonkeyPatch, value: str, read: float) -> None:
    monkeypatch.setenv("SOME_SECONDS", value)
    assert (env.seconds("SOME_SECONDS", 7), env.refused) == (read, {})


def test_a_list_of_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_HOSTS", " , ")
    assert env.words("SOME_HOSTS", ["localhost"]) == ["localhost"]
    assert "SOME_HOSTS" in env.refused


@pytest.mark.parametrize(("command", "expected"), ((CHECK, 1), (SERVE, 1), (PREPARE, REFUSED)))
def test_refused_and_contradictory_values_are_named_together(
    tmp_path: Path, command: tuple[str, ...], expected: int
) -> None:
    status, said = start(tmp_path, command, EVENTS_QUEUE_MAX="many", HISTORY_DAYS="-1", HEARTBEAT_SECONDS="20")
    assert status == expected
    assert all(name in said for name in ("EVENTS_QUEUE_MAX", "HISTORY_DAYS", "HEARTBEAT_SECONDS", "LEASE_SECONDS"))
    assert "Traceback" not in said


@pytest.mark.parametrize("command", (CHECK, SERVE))
@pytest.mark.parametrize(
    ("name", "value"),
    (
        ("LARKFIELD_ENV", "staging"),
        ("LARKFIELD_ENV", "production"),
        ("DATABASE_URL", "mysql://somewhere/name"),
        ("DATABASE_URL", "postgresql://somewhere:port/name"),
        ("VALKEY_URL", "http://somewhere"),
        ("PROVIDER_BASE_URL", "http://somewhere"),
        ("PROVIDER_BASE_URL", "somewhere/v1"),
    ),
)
def test_a_wrong_word_or_address_is_named(tmp_path: Path, command: tuple[str, ...], name: str, value: str) -> None:
    status, said = start(tmp_path, command, **{name: value})
    assert status == 1
    assert name in said
    assert "Traceback" not in said


def test_production_names_each_variable_that_it_lacks(tmp_path: Path) -> None:
    _, said = start(tmp_path, CHECK, LARKFIELD_ENV="production", DATABASE_URL="", ALLOWED_HOSTS="")
    assert all(name in said for name in ("SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"))


@pytest.mark.parametrize("command", (CHECK, SERVE))
@pytest.mark.parametrize(
    ("values", "named"),
    (
        ({"HEARTBEAT_SECONDS": "11", "LEASE_SECONDS": "30"}, ("HEARTBEAT_SECONDS", "LEASE_SECONDS")),
        ({"PROVIDER_TIMEOUT_SECONDS": "31", "LEASE_SECONDS": "30"}, ("PROVIDER_TIMEOUT_SECONDS", "LEASE_SECONDS")),
        ({"DRAIN_SECONDS": "60"}, ("DRAIN_SECONDS", "PLATFORM_GRACE_SECONDS")),
        ({"BACKOFF_BASE_SECONDS": "10", "BACKOFF_MAX_SECONDS": "5"}, ("BACKOFF_BASE_SECONDS", "BACKOFF_MAX_SECONDS")),
    ),
)
def test_contradicting_values_stop_the_start_and_both_are_named(
    tmp_path: Path, command: tuple[str, ...], values: dict[str, str], named: tuple[str, str]
) -> None:
    status, said = start(tmp_path, command, **values)
    assert status == 1
    assert all(name in said for name in named)
    assert "Traceback" not in said


def test_a_heartbeat_of_exactly_a_third_of_the_lease_starts(tmp_path: Path) -> None:
    values = {"HEARTBEAT_SECONDS": "0.333", "LEASE_SECONDS": "1", "PROVIDER_TIMEOUT_SECONDS": "1"}
    assert start(tmp_path, CHECK, **values)[0] == 0


@pytest.mark.parametrize("command", (CHECK, SERVE))
def test_what_works_at_a_price_starts_and_the_check_warns_of_it(tmp_path: Path, command: tuple[str, ...]) -> None:
    status, said = start(tmp_path, command, DOCUMENTS_QUEUE_MAX_BYTES="5000")
    assert status == 0, said
    assert ("UPLOAD_MAX_BYTES" in said) == (command == CHECK)


@pytest.mark.django_db
def test_more_connections_than_the_server_has_are_named(settings: Settings) -> None:
    assert check_connections(databases=["default"]) == []
    settings.DATABASE_POOL_MAX = 100_000
    (found,) = check_connections(databases=["default"])
    assert "DATABASE_POOL_MAX (100000)" in found.msg
    assert "max_connections" in found.msg


def test_a_pooler_without_prepared_statements_is_met_by_the_address(tmp_path: Path) -> None:
    told = (
        "-c",
        "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['prepare_threshold'])",
    )
    address = NOWHERE["DATABASE_URL"]
    environment = {"DJANGO_SETTINGS_MODULE": "larkfield.settings"}
    assert start(tmp_path, told, **environment)[1].strip() == "2"
    assert start(tmp_path, told, **environment, DATABASE_URL=f"{address}?prepare_threshold=0")[1].strip() == "None"
    assert "prepare_threshold" in start(tmp_path, CHECK, DATABASE_URL=f"{address}?prepare_threshold=few")[1]
