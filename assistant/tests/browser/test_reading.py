"""The pages that are read without scripts: documents, one document, news, and who may see what."""

import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client

from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import SignIn

PAGES = ("/", "/documents/", "/news/", "/upload/", "/documents/returns/")


@pytest.fixture
def reader(person: SignIn) -> Client:
    client = Client()
    client.force_login(person("omar", "ask"))
    return client


def body_of(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_sent_to_sign_in_and_back(db: None, path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 302
    assert response.headers["Location"] == f"/sign-in/?next={path}"


def test_an_account_that_is_tied_to_no_caller_is_told_so(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_user("tomás"))
    assert "tied to no caller" in body_of(client, "/", 403)


def test_only_who_may_upload_is_shown_the_way_there(reader: Client, person: SignIn) -> None:
    assert "/upload/" not in body_of(reader, "/news/")
    assert "lacks the right to upload" in body_of(reader, "/upload/", 403)
    client = Client()
    client.force_login(person("kwame", "upload"))
    assert 'href="/upload/"' in body_of(client, "/news/")
    assert "lacks the right to ask" in body_of(client, "/")


def test_the_list_shows_what_is_in_force_and_what_waits(reader: Client) -> None:
    shelves.add_version("returns", summary="Thirty days.")
    shelves.add_version("returns", "queued")
    shelves.add_version("refunds", "running")
    body = body_of(reader, "/documents/")
    assert "2 documents" in body
    assert "Thirty days." in body
    assert "version 2 is being prepared" in body
    assert "nothing published yet" in body


def test_the_list_is_searched_by_title_and_slug(reader: Client) -> None:
    shelves.add_version("returns", title="Sending back")
    shelves.add_version("refunds")
    assert "refunds" not in body_of(reader, "/documents/?q=return")
    assert "refunds" not in body_of(reader, "/documents/?q=SENDING")
    assert "No document matches" in body_of(reader, "/documents/?q=%00%25")


def test_a_document_shows_its_versions_with_state_and_cost(reader: Client) -> None:
    for state in ("succeeded", "failed", "succeeded", "cancelled", "queued"):
        shelves.add_version("returns", state, summary=f"It {state}.")
    body = body_of(reader, "/documents/returns/")
    assert "Version 3 is in force" in body
    assert "It succeeded." in body
    assert "A newer version" in body
    states = re.findall(r'<span class="badge badge-\w+">(\w+)</span>', body)
    assert states == ["pending", "cancelled", "published", "failed", "superseded"]
    assert body.count("$0.000412") == 6
    assert "/v1/documents/returns/versions/3/file" in body


def test_usage_is_drawn_and_told_in_numbers(reader: Client) -> None:
    shelves.add_version("returns")
    shelves.use("returns", 0, views=40, citations=10)
    shelves.use("returns", 29, views=1, citations=0)
    shelves.use("returns", 30, views=7, citations=7)
    body = body_of(reader, "/documents/returns/")
    assert "<dd>48</dd>" in body
    assert re.findall(r'<rect class="bar-(\w+)" x="(\d+)" y="(\d+)" width="8" height="(\d+)"/>', body) == [
        ("views", "0", "99", "2"),
        ("views", "580", "1", "100"),
        ("citations", "589", "76", "25"),
    ]
    assert body.count('<td class="number">40</td>') == 1


def test_a_document_without_use_says_so(reader: Client) -> None:
    shelves.add_version("returns")
    assert "No views or citations in the last 30 days." in body_of(reader, "/documents/returns/")


def test_a_deleted_document_is_nowhere(reader: Client) -> None:
    shelves.add_version("returns", summary="Thirty days.")
    shelves.delete("returns")
    assert "There is nothing here" in body_of(reader, "/documents/returns/", 404)
    assert "Thirty days." not in body_of(reader, "/documents/")
    assert "Thirty days." not in body_of(reader, "/news/")


def test_news_are_the_published_versions_newest_first(reader: Client) -> None:
    for slug in ("returns", "refunds", "returns"):
        shelves.add_version(slug, summary=f"News of {slug}.")
    body = body_of(reader, "/news/")
    assert re.findall(r"News of (\w+)\.", body) == ["returns", "refunds"]


def test_markup_in_a_title_or_a_summary_is_shown_as_text(reader: Client) -> None:
    shelves.add_version("returns", title="<script>alert(1)</script>", summary="<img src=x onerror=alert(1)>")
    for path in ("/documents/", "/documents/returns/", "/news/"):
        body = body_of(reader, path)
        assert "&lt;script&gt;alert(1)" in body
        assert "<img" not in body


@pytest.mark.parametrize("name", ["403.html", "403_csrf.html", "404.html", "500.html"])
def test_the_pages_of_errors_need_nothing_that_may_be_missing(name: str) -> None:
    body = render_to_string(name)
    assert 'href="/"' in body
    assert "Sign out" not in body


@pytest.mark.parametrize("path", [*PAGES, "/sign-in/", "/documents/nothing/"])
def test_no_page_has_anything_inline_or_is_kept_by_the_browser(person: SignIn, path: str) -> None:
    shelves.add_version("returns")
    client = Client()
    if path != "/sign-in/":
        client.force_login(person("omar", "ask", "upload"))
    response = client.get(path)
    body = response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert "style=" not in body
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|javascript:", body) == []
    assert set(re.findall(r'(?:src|href)="(?!/|#|\?)([^"]*)"', body)) == set()


def test_the_session_opens_the_api_and_a_write_needs_the_csrf_token(person: SignIn) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("omar", "ask", "upload"))
    assert client.get("/v1/documents").status_code == 200
    refused = client.post("/v1/documents/returns/versions", b"# Returns", content_type="text/markdown")
    assert refused.status_code == 403
    assert settings.CSRF_COOKIE_NAME in client.get("/").cookies
