"""The page of a document whose next version is on its way: it moves by itself, for its uploader and for everybody."""

import pytest
from playwright.sync_api import Page, expect

from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import SignIn
from assistant.tests.browser.pretended import PretendedApi
from assistant.tests.browser.test_uploading import END, job
from ingestion.models import Document, DocumentVersion, Job
from ingestion.tests.making import stand

pytestmark = pytest.mark.browser


@pytest.fixture
def waiting(page: Page, sign_in: SignIn) -> DocumentVersion:
    stand()
    sign_in("mei", "ask")
    shelves.add_version("returns")
    return shelves.add_version("returns", "queued")


def test_a_version_on_its_way_shows_its_progress_and_is_offered_when_it_is_there(
    page: Page, waiting: DocumentVersion, api: PretendedApi
) -> None:
    api.jobs(job("running", 12, 40), job("running", 30, 40), job("succeeded", 40, 40, finished_at=END))
    page.goto("/documents/returns/")
    note = page.locator("#waiting")
    expect(note).to_contain_text("Until then version 1 is in force.")
    expect(note.get_by_role("progressbar")).to_have_js_property("value", 12)
    expect(note.get_by_role("status")).to_have_text("Version 2 is published.")
    expect(note.get_by_role("link", name="Show it")).to_have_attribute("href", "/documents/returns/")


def test_a_version_that_comes_to_nothing_tells_the_reason_where_it_is_waited_for(
    page: Page, waiting: DocumentVersion, api: PretendedApi
) -> None:
    api.jobs(job("failed", finished_at=END, error={"code": "invalid_text", "detail": "The text can't be read."}))
    page.goto("/documents/returns/")
    expect(page.locator("#waiting")).to_contain_text("Failed; another try would not help. The text can't be read.")
    expect(page.get_by_role("link", name="Show it")).to_be_hidden()


def test_a_reader_who_may_not_see_the_job_is_told_by_the_document(page: Page, waiting: DocumentVersion) -> None:
    page.clock.install()
    page.goto("/documents/returns/")
    expect(page.locator("#waiting-work")).to_contain_text("waits for its turn")
    Job.objects.filter(pk=waiting.job_id).update(state="succeeded", finished_at=END)
    DocumentVersion.objects.filter(pk=waiting.pk).update(published_at=END)
    Document.objects.filter(slug="returns").update(published=waiting)
    page.clock.run_for(6_000)
    expect(page.locator("#waiting-work")).to_have_text("version 2 is published.")
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_role("heading", name="Version 2 is in force")).to_be_visible()


def test_a_version_that_failed_says_so_on_the_page_of_its_document(page: Page, sign_in: SignIn) -> None:
    sign_in("mei", "ask")
    shelves.add_version("returns")
    failed = shelves.add_version("returns", "failed")
    Job.objects.filter(pk=failed.job_id).update(error_detail="<b>No</b> text.")
    page.goto("/documents/returns/")
    expect(page.get_by_role("main")).to_contain_text("Version 2 was not published. <b>No</b> text.")
    expect(page.get_by_role("main")).to_contain_text("Version 1 stays in force.")
