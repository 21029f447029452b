"""The page Upload: from a chosen file to the end of its job, with refusals on the way."""

import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from assistant.tests.browser.conftest import PASSWORD, SignIn
from assistant.tests.browser.pretended import PretendedApi, Reply, refusal, whole
from ingestion.models import DocumentVersion
from ingestion.tests.making import stand

pytestmark = pytest.mark.browser

ESTIMATE = {"wait_seconds": 42, "low_seconds": 20, "high_seconds": 75, "basis": "measured"}


def accepted(slug: str = "returns") -> Reply:
    content = {
        "document": {"slug": slug, "title": slug, "url": f"/v1/documents/{slug}"},
        "version": {"number": 3, "state": "pending"},
        "job": {"id": "7", "state": "queued", "url": "/v1/jobs/7"},
        "estimate": ESTIMATE,
    }
    return whole(content, 202)


def job(state: str, done: int = 0, total: int = 0, **changes: Any) -> Reply:
    content = {
        "id": "7", "state": state, "attempt": 1, "max_attempts": 5, "waiting_for": None, "ready_at": None,
        "progress": {"done": done, "total": total, "unit": "chunks"}, "finished_at": None, "estimate": ESTIMATE,
        "error": None,
    }  # fmt: skip
    return whole({**content, **changes})


END = "2026-11-30T12:00:00Z"


@pytest.fixture
def uploading(page: Page, sign_in: SignIn) -> Page:
    sign_in("kwame", "upload")
    page.goto("/upload/")
    return page


def choose(page: Page, name: str = "Returns.md", content: bytes = b"# Returns\n\nThirty days.\n") -> Locator:
    page.get_by_label("Choose files").set_input_files(FilePayload(name=name, mimeType="", buffer=content))
    return page.locator(".upload").last


def send(row: Locator) -> None:
    row.get_by_role("button", name="Upload").click()


def test_a_file_is_followed_until_it_is_published(uploading: Page, api: PretendedApi) -> None:
    api.uploads(accepted())
    api.jobs(job("queued"), job("running", 12, 40), job("succeeded", 40, 40, finished_at=END))
    row = choose(uploading)
    expect(row.get_by_label("Slug")).to_have_value("returns")
    send(row)
    expect(row.get_by_role("progressbar")).to_have_js_property("value", 12)
    expect(row).to_contain_text("12 of 40 chunks")
    expect(row).to_contain_text("About 42 s (20 s to 1 min 15 s; from the measured pace).")
    expect(row.get_by_role("status")).to_have_text("Version 3 is published.")
    expect(row.get_by_role("link", name="Open the document")).to_have_attribute("href", "/documents/returns/")


def test_it_says_what_a_job_waits_for_and_until_when(uploading: Page, api: PretendedApi) -> None:
    api.uploads(accepted())
    api.jobs(job("queued", waiting_for="provider_quota", ready_at="2999-11-30T12:00:00Z"))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("status")).to_contain_text("Waits for the provider’s quota until")


@pytest.mark.parametrize(
    "state, words", [("failed", "another try would not help"), ("dead_letter", "Gave up after all tries")]
)
def test_a_job_that_fails_tells_the_reason(uploading: Page, api: PretendedApi, state: str, words: str) -> None:
    api.uploads(accepted())
    api.jobs(job(state, finished_at=END, error={"code": "short_reply", "detail": "The provider's reply was short."}))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("status")).to_contain_text(words)
    expect(row).to_contain_text("The provider's reply was short.")


@pytest.mark.parametrize("status, code", [(429, "rate_limited"), (503, "queue_full")])
def test_a_refused_file_is_sent_again_by_itself_with_the_same_key(
    uploading: Page, api: PretendedApi, status: int, code: str
) -> None:
    api.uploads(refusal(status, code, "No place is free.", retry_after=1), accepted())
    api.jobs(job("succeeded", 1, 1, finished_at=END))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("status")).to_have_text("No place is free.")
    expect(row.get_by_role("status")).to_have_text("Version 3 is published.")
    keys = [request.headers["idempotency-key"] for request in api.asked if request.method == "POST"]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_trying_again_by_itself_can_be_stopped(uploading: Page, api: PretendedApi) -> None:
    api.uploads(refusal(503, "queue_full", "No place is free.", retry_after=60))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("timer")).to_contain_text("next try in")
    row.get_by_role("button", name="Stop trying").click()
    expect(row.get_by_role("status")).to_have_text("Stopped. The file was not accepted yet.")
    expect(row.get_by_role("button", name="Try again")).to_be_visible()
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    "status, code", [(400, "invalid_request"), (413, "too_large"), (415, "unsupported_type"), (422, "empty_document")]
)
def test_a_file_that_is_not_accepted_shows_why_and_can_be_changed(
    uploading: Page, api: PretendedApi, status: int, code: str
) -> None:
    api.uploads(refusal(status, code, "This is why."), accepted("other"))
    api.jobs(job("succeeded", 1, 1, finished_at=END))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("status")).to_have_text("This is why.")
    row.get_by_label("Slug").fill("other")
    row.get_by_role("button", name="Try again").click()
    expect(row.get_by_role("status")).to_have_text("Version 3 is published.")
    assert api.asked[1].url.endswith("/v1/documents/other/versions")


def test_a_file_above_the_limit_is_not_sent(uploading: Page, api: PretendedApi) -> None:
    api.uploads(accepted())
    row = choose(uploading, content=b"x" * 2_097_153)
    send(row)
    expect(row.get_by_role("status")).to_have_text("The file is too large.")
    assert api.asked == []


def test_every_file_has_a_row_and_a_key_of_its_own(uploading: Page, api: PretendedApi) -> None:
    api.uploads(accepted())
    api.jobs(job("succeeded", 1, 1, finished_at=END))
    choose(uploading, "Gift cards.md")
    row = choose(uploading, "Größen & Maße.txt")
    expect(row.get_by_label("Slug")).to_have_value("grossen-masse")
    uploading.get_by_role("button", name="Upload all").click()
    expect(uploading.locator('.upload[data-state="published"]')).to_have_count(2)
    keys = {request.headers["idempotency-key"] for request in api.asked if request.method == "POST"}
    assert len(keys) == 2


def test_a_slug_that_is_none_is_not_sent(uploading: Page, api: PretendedApi) -> None:
    api.uploads(accepted())
    row = choose(uploading)
    row.get_by_label("Slug").fill("No Slug!")
    send(row)
    expect(row.get_by_label("Slug")).to_be_focused()
    assert api.asked == []


def test_a_session_that_ends_before_a_file_is_sent_loses_nothing(
    uploading: Page, settings: LazySettings, tmp_path: Path
) -> None:
    stand()
    files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": files}
    choose(uploading, "Returns.md")
    choose(uploading, "Refunds.md", b"# Refunds\n\nAt once.\n")
    Session.objects.all().delete()
    uploading.get_by_role("button", name="Upload all").click()
    rows = uploading.locator(".upload")
    expect(rows.get_by_text("Your session has ended.")).to_have_count(2)
    expect(uploading.locator("#tally")).to_have_text("2 waiting for you to sign in")
    assert not DocumentVersion.objects.exists()
    with uploading.expect_popup() as opened:
        rows.first.get_by_role("link", name="Sign in in a new tab").click()
    tab = opened.value
    tab.get_by_label("User name").fill("kwame")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("button", name="Sign out")).to_be_visible()
    tab.close()
    # Where the browser tells the page that it is looked at again; the button does the same.
    uploading.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(rows.get_by_text("waits for its turn")).to_have_count(2)
    assert sorted(DocumentVersion.objects.values_list("document__slug", "number")) == [("refunds", 1), ("returns", 1)]


def test_a_session_that_ends_while_a_job_is_followed_is_followed_on_after_the_sign_in(
    uploading: Page, api: PretendedApi
) -> None:
    api.uploads(accepted())
    api.jobs(refusal(401, "unauthenticated", "Who is it?"), job("succeeded", 40, 40, finished_at=END))
    row = choose(uploading)
    send(row)
    expect(row.get_by_role("status")).to_have_text("Your session has ended.")
    expect(row).to_contain_text("The file is accepted and goes on without this page")
    row.get_by_role("button", name="Look again").click()
    expect(row.get_by_role("status")).to_have_text("Version 3 is published.")
    assert len([request for request in api.asked if request.method == "POST"]) == 1


def test_a_file_that_is_gone_since_it_was_chosen_is_no_fault_of_the_server(uploading: Page, tmp_path: Path) -> None:
    file = tmp_path / "Returns.md"
    file.write_text("# Returns")
    uploading.get_by_label("Choose files").set_input_files(file)
    file.unlink()
    row = uploading.locator(".upload")
    send(row)
    expect(row.get_by_role("status")).to_contain_text("The file can’t be read")
    expect(row.get_by_role("button", name="Try again")).to_be_visible()


def test_files_are_dropped_onto_the_page(uploading: Page) -> None:
    uploading.evaluate(
        """() => {
            const carried = new DataTransfer();
            for (const name of ["Returns.md", "Gift cards.md"]) carried.items.add(new File(["# X"], name));
            const drop = document.getElementById("drop");
            drop.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }"""
    )
    expect(uploading.locator(".upload h3")).to_have_text(["Returns.md", "Gift cards.md"])


def until_there(page: Page, routes: list[Route], count: int) -> None:
    """So many requests have come in all."""
    deadline = time.monotonic() + 15
    while len(routes) < count:
        assert time.monotonic() < deadline, f"{len(routes)} of {count} requests came"
        page.wait_for_timeout(10)


def test_many_files_are_sent_a_few_at_a_time(uploading: Page) -> None:
    under_way: list[Route] = []
    uploading.route("**/v1/documents/*/versions", lambda route: under_way.append(route))
    uploading.route("**/v1/jobs/*", lambda route: route.fulfill(json={"state": "succeeded", "finished_at": END}))
    files = [FilePayload(name=f"policy-{number}.md", mimeType="", buffer=b"# X") for number in range(7)]
    uploading.get_by_label("Choose files").set_input_files(files)
    uploading.get_by_role("button", name="Upload all").click()
    expect(uploading.locator('.upload[data-state="sending"]')).to_have_count(4)
    reply = accepted()
    for sent in range(7):
        until_there(uploading, under_way, sent + min(4, 7 - sent))
        assert len(under_way) - sent <= 4
        under_way[sent].fulfill(status=reply.status, headers=reply.headers, body=reply.body)
    expect(uploading.locator('.upload[data-state="published"]')).to_have_count(7)
    expect(uploading.locator("#tally")).to_have_text("7 published")
