"""News as an Atom feed: what RFC 4287 demands, and what a hostile title can't break."""

from datetime import datetime
from xml.etree import ElementTree

import pytest
from django.test import Client

from assistant.feed import writable
from assistant.tests.browser import shelves
from ingestion.models import DocumentVersion
from ingestion.tests.making import Uploader

pytestmark = pytest.mark.django_db

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script> & \x0b\ufffe“]]>”"


def read(client: Client) -> ElementTree.Element:
    answer = client.get("/news.atom")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/atom+xml; charset=utf-8")
    return ElementTree.fromstring(answer.content)  # noqa: S314  (our own answer)


def text(element: ElementTree.Element, name: str) -> str:
    found = element.findtext(f"{ATOM}{name}")
    assert found, f"{name} is demanded by RFC 4287"
    return found


def test_the_feed_has_what_the_rfc_demands_with_absolute_addresses() -> None:
    shelves.add_version("returns", summary="Thirty days.")
    feed = read(Uploader("mei", "ask").client)
    assert feed.tag == f"{ATOM}feed"
    entry = feed.find(f"{ATOM}entry")
    assert entry is not None
    for element in (feed, entry):
        assert text(element, "id")
        assert text(element, "title")
        assert datetime.fromisoformat(text(element, "updated")).tzinfo is not None
    assert feed.findtext(f"{ATOM}author/{ATOM}name") == "Larkfield"
    links = {link.attrib["rel"]: link.attrib["href"] for link in feed.findall(f"{ATOM}link")}
    assert links == {"alternate": "http://testserver/news/", "self": "http://testserver/news.atom"}
    link = entry.find(f"{ATOM}link")
    assert link is not None
    assert link.attrib["href"] == "http://testserver/documents/returns/"
    assert text(entry, "summary") == "<p>Thirty days.</p>"


def test_an_entry_keeps_its_id_under_another_title_and_a_newer_version_has_its_own() -> None:
    client = Uploader("mei", "ask").client
    version = shelves.add_version("returns")
    first = read(client).findtext(f"{ATOM}entry/{ATOM}id")
    DocumentVersion.objects.filter(pk=version.pk).update(title="Sending back")
    assert read(client).findtext(f"{ATOM}entry/{ATOM}id") == first == f"urn:uuid:{version.job_id}"
    shelves.add_version("returns")
    assert read(client).findtext(f"{ATOM}entry/{ATOM}id") != first


def test_markup_and_characters_that_xml_can_t_hold_are_text_or_replaced() -> None:
    shelves.add_version("returns", title=HOSTILE, summary=f"{HOSTILE} says who?")
    entry = read(Uploader("mei", "ask").client).find(f"{ATOM}entry")
    assert entry is not None
    assert text(entry, "title") == "<script>alert(1)</script> & ��“]]>” (version 1)"
    assert text(entry, "summary").startswith("<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; ��")
    assert writable("a\x00\ud800b") == "a��b"


def test_a_feed_without_entries_is_one_too() -> None:
    assert read(Uploader("mei", "ask").client).findall(f"{ATOM}entry") == []


def test_a_program_without_a_token_is_told_so_in_its_own_words() -> None:
    refused = Client().get("/news.atom")
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="larkfield"')
