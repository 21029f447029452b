"""The whole way with nothing pretended: a file becomes a version, an answer cites it, a newer one takes its place."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from django.conf import LazySettings
from django.db import connection
from playwright.sync_api import FilePayload, Locator, Page, expect
from redis import Redis

from assistant.tests.browser.conftest import SignIn
from ingestion.tests.simulated import Simulator

pytestmark = pytest.mark.browser

PROJECT = Path(__file__).resolve().parents[3]
DEADLINE_MS = 60_000
POLICY = """# Returns

## The standard period

A customer has {days} days to return an item bought online or in a store.

## Electronics

Phones and tablets are returned within 14 days, reset and unlinked from every account.
"""
QUESTION = "How many days has a customer to return an item bought in a store?"


@pytest.fixture
def worker(page: Page, simulator: Simulator, settings: LazySettings, tmp_path: Path) -> Iterator[None]:
    """A real worker process on the test's database, provider and files."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "files")},
        },
    }
    database = f"/{quote(connection.settings_dict['NAME'])}"
    surroundings = {
        **os.environ,
        "DATABASE_URL": urlsplit(settings.DATABASE_URL)._replace(path=database).geturl(),
        "LARKFIELD_DATA_DIR": str(tmp_path),
        "PROVIDER_BASE_URL": simulator.base_url,
        "VALKEY_URL": settings.VALKEY_URL,
        "SECRET_KEY": settings.SECRET_KEY,
    }
    process = subprocess.Popen([sys.executable, "manage.py", "runworker"], cwd=PROJECT, env=surroundings)
    yield
    process.terminate()
    process.wait(timeout=30)


def upload(page: Page, text: str) -> Locator:
    page.goto("/upload/")
    file = FilePayload(name="Returns.md", mimeType="text/markdown", buffer=text.encode())
    page.get_by_label("Choose files").set_input_files(file)
    row = page.locator(".upload")
    row.get_by_role("button", name="Upload").click()
    return row


def ask(page: Page) -> Locator:
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#passage-1")).to_be_visible(timeout=DEADLINE_MS)
    return page.locator("#passage-1")


def test_an_uploaded_file_is_published_cited_and_replaced(
    page: Page, sign_in: SignIn, worker: None, valkey: Redis
) -> None:
    sign_in("omar", "upload", "ask")
    row = upload(page, POLICY.format(days=30))
    expect(row.get_by_role("status")).to_have_text("Version 1 is published.", timeout=DEADLINE_MS)
    passage = ask(page)
    expect(passage).to_contain_text("version 1")
    expect(passage.locator("blockquote")).to_contain_text("30 days")
    expect(page.locator("#answer")).to_contain_text("30 days")
    row = upload(page, POLICY.format(days=60))
    expect(row.get_by_role("status")).to_have_text("Version 2 is published.", timeout=DEADLINE_MS)
    passage = ask(page)
    expect(passage).to_contain_text("version 2")
    expect(page.locator("#answer")).to_contain_text("60 days")
    passage.get_by_role("link", name="Returns").click()
    expect(page.get_by_role("heading", name="Version 2 is in force")).to_be_visible()
    expect(page.get_by_role("cell", name="superseded")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the file").click()
    assert Path(download.value.path()).read_text() == POLICY.format(days=60)
