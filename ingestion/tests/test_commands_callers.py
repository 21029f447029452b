"""createcaller and the demo caller: who may call after it, and with what."""

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from ingestion import callers
from ingestion.models import Caller
from ingestion.models.callers import RIGHTS, hash_token

pytestmark = pytest.mark.django_db


def made(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The token that the command printed, alone on standard output."""
    call_command("createcaller", *arguments)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_it_prints_the_token_alone_and_stores_only_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    token = made(capsys, "helpdesk-eu", "--can", "produce, ask", "--uploads-per-minute", "7")
    caller = Caller.objects.get(name="helpdesk-eu")
    assert caller.token_hash == hash_token(token)
    assert caller.rights == ["ask", "produce"]
    assert caller.uploads_per_minute == 7


def test_a_caller_may_upload_and_ask_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "kwame")
    assert Caller.objects.get(name="kwame").rights == ["upload", "ask"]


def test_a_name_that_exists_is_an_error_and_keeps_its_token(capsys: pytest.CaptureFixture[str]) -> None:
    token = made(capsys, "omar")
    with pytest.raises(CommandError, match="exists already"):
        call_command("createcaller", "omar")
    assert Caller.objects.get(name="omar").token_hash == hash_token(token)


def test_rotate_replaces_the_token_and_keeps_the_rights(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "mei", "--can", "operate", "--uploads-per-minute", "3")
    token = made(capsys, "mei", "--rotate")
    caller = Caller.objects.get(name="mei")
    assert (caller.token_hash, caller.rights, caller.uploads_per_minute) == (hash_token(token), ["operate"], 3)
    assert caller.rotated_at is not None


def test_rotate_changes_the_rights_where_they_are_given(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "mei", "--can", "operate")
    made(capsys, "mei", "--rotate", "--can", "ask")
    assert Caller.objects.get(name="mei").rights == ["ask"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unknown", "--rotate"], "There is no caller 'unknown'"),
        (["tomás", "--can", "upload,fly"], "Unknown right 'fly'"),
        (["tomás", "--can", ""], "Unknown right"),
        ([""], "1 to 100 printable characters"),
        (["n" * 101], "1 to 100 printable characters"),
        (["two\nlines"], "1 to 100 printable characters"),
        (["lone \ud800"], "1 to 100 printable characters"),
        (["nul\0"], "1 to 100 printable characters"),
        (["tomás", "--uploads-per-minute", "0"], "from 1 to"),
    ],
)
def test_bad_arguments_make_no_caller(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("createcaller", *arguments)
    assert not Caller.objects.exists()


def test_the_demo_caller_has_all_rights_and_the_account_its_password() -> None:
    callers.ensure_demo("demo-token", "a long demo password")
    caller = Caller.objects.get(name="demo")
    assert caller.token_hash == hash_token("demo-token")
    assert caller.rights == list(RIGHTS)
    user = authenticate(username="demo", password="a long demo password")
    assert user is not None
    assert caller.user == user
    assert user.is_superuser


def test_the_demo_caller_is_made_once_and_takes_new_secrets() -> None:
    callers.ensure_demo("first", "first password")
    kept = Caller.objects.select_related("user").get(name="demo")
    callers.ensure_demo("first", "first password")
    again = Caller.objects.select_related("user").get(name="demo")
    assert kept.user is not None
    assert again.user is not None
    # The same hash of the password: nobody who is signed in is signed out by a second start.
    assert (again.pk, again.user.password) == (kept.pk, kept.user.password)
    callers.ensure_demo("second", "second password")
    assert Caller.objects.get(name="demo").token_hash == hash_token("second")
    assert authenticate(username="demo", password="second password") is not None
