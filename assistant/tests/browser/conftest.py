"""Chromium, a page of the live server, and people who are signed in."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from assistant.tests.browser.pretended import PretendedApi
from ingestion.models import Caller

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "a-quiet-field-of-rye"
DEADLINE_MS = 15_000
# What the console says of answers that the tests ask for; anything else there is a fault of the page.
EXPECTED_IN_CONSOLE = "Failed to load resource"

SignIn = Callable[..., User]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of this folder."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert program, "The browser tests need Chromium."
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's own event loop runs in this thread; Django would take our queries for a mistake.
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=program, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, django_db_serialized_rollback: None, live_server: LiveServer) -> Iterator[Page]:
    """A fresh window on the live server. A script error or a breach of the content policy fails the test."""
    expect.set_options(timeout=DEADLINE_MS)
    context = chromium.new_context(base_url=live_server.url, locale="en-GB", reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield context.new_page()
    context.close()
    assert [fault for fault in faults if EXPECTED_IN_CONSOLE not in fault] == []


@pytest.fixture
def api(page: Page) -> PretendedApi:
    """Answers the page's calls in place of the product."""
    return PretendedApi(page)


@pytest.fixture
def person(db: None, settings: LazySettings) -> SignIn:
    """Makes an account that is tied to a caller with these rights."""
    # A password of the tests needs no slow hash.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

    def make(name: str, *rights: str) -> User:
        user = User.objects.create_user(name, password=PASSWORD)
        Caller.objects.create(name=name, rights=list(rights), user=user)
        return user

    return make


@pytest.fixture
def sign_in(page: Page, live_server: LiveServer, person: SignIn, settings: LazySettings) -> SignIn:
    """The page belongs to a new person with these rights."""

    def as_person(name: str, *rights: str) -> User:
        user = person(name, *rights)
        client = Client()
        client.force_login(user)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        return user

    return as_person
