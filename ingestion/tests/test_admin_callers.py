"""Callers in the admin: rights, limits, and a token that is shown once and kept nowhere."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client

from ingestion.models import Caller
from ingestion.models.callers import hash_token
from ingestion.tests.operating import signed_in, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return signed_in("operator", "operate")


@pytest.fixture
def helpdesk() -> Caller:
    return Caller.objects.create(name="helpdesk-eu", rights=["ask"], token_hash=hash_token("the old one"))


def rotation(caller: Caller) -> str:
    return f"/admin/ingestion/caller/{caller.pk}/rotate/"


def shown_token(text: str) -> str:
    found = re.search(r"\blk_[\w-]{43}", text)
    return found[0] if found else ""


def test_a_new_token_is_shown_once_and_ends_the_old_one(
    operator: Client, helpdesk: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    asked = operator.get(rotation(helpdesk))
    assert "the present one ends at once" in words(asked)
    answer = operator.post(rotation(helpdesk), {"seen": asked.context["seen"]})
    token = shown_token(answer.content.decode())
    helpdesk.refresh_from_db()
    assert helpdesk.token_hash == hash_token(token)
    assert "no-store" in answer["Cache-Control"]
    for page in (operator.get(rotation(helpdesk)), operator.get(f"/admin/ingestion/caller/{helpdesk.pk}/change/")):
        assert token not in page.content.decode()
        assert hash_token(token) not in page.content.decode()
    assert token not in caplog.text
    assert token not in "".join(str(session.get_decoded()) for session in Session.objects.all())
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["Token replaced."]


def test_a_reload_or_a_second_operator_replaces_no_token_again(operator: Client, helpdesk: Caller) -> None:
    seen = operator.get(rotation(helpdesk)).context["seen"]
    signed_in("kwame", "operate").post(rotation(helpdesk), {"seen": seen})
    kept = Caller.objects.get(pk=helpdesk.pk).token_hash
    said = words(operator.post(rotation(helpdesk), {"seen": seen}, follow=True))
    assert "somebody else was faster. Nothing was changed." in said
    assert Caller.objects.get(pk=helpdesk.pk).token_hash == kept
    assert not shown_token(said)


def test_a_token_is_replaced_by_operators_only(helpdesk: Caller) -> None:
    client = signed_in("mei", "upload", "ask", "produce")
    assert client.get(rotation(helpdesk)).status_code == 403
    assert client.post(rotation(helpdesk), {"seen": "never"}).status_code == 403
    assert Caller.objects.get(pk=helpdesk.pk).token_hash == hash_token("the old one")


def test_a_caller_that_is_not_there_is_404(operator: Client) -> None:
    assert operator.get("/admin/ingestion/caller/999999/rotate/").status_code == 404


def test_rights_and_limit_are_changed_and_the_token_stays(operator: Client, helpdesk: Caller) -> None:
    sent = {"rights": ["ask", "produce"], "uploads_per_minute": "7", "is_active": "on", "name": "other"}
    assert operator.post(f"/admin/ingestion/caller/{helpdesk.pk}/change/", sent).status_code == 302
    after = Caller.objects.get(pk=helpdesk.pk)
    assert (after.name, after.rights, after.uploads_per_minute) == ("helpdesk-eu", ["ask", "produce"], 7)
    assert after.token_hash == hash_token("the old one")


@pytest.mark.parametrize("sent", [{"rights": ["fly"]}, {"uploads_per_minute": "0"}, {"uploads_per_minute": "-1"}])
def test_unknown_rights_and_limits_of_nothing_are_refused_in_the_form(
    operator: Client, helpdesk: Caller, sent: dict[str, object]
) -> None:
    answer = operator.post(f"/admin/ingestion/caller/{helpdesk.pk}/change/", sent)
    assert "Please correct the error below" in words(answer)
    assert Caller.objects.get(pk=helpdesk.pk).rights == ["ask"]
