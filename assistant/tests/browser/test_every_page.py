"""Every page in light and dark, on a desk and on a phone: pictures to look at, axe, the content policy, its width.

The pictures lie in var/test/screenshots. axe is injected by the browser's own protocol, which the policy does not
govern; the policy itself is as strict here as everywhere.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import FilePayload, Page, Response, expect

from assistant import history
from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import SignIn
from assistant.tests.browser.pretended import PretendedApi, refusal, whole
from assistant.tests.browser.test_asking import answer, ask, citation
from assistant.tests.browser.test_operating import dead_letter
from ingestion.tests.making import stand

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PICTURES = Path(settings.BASE_DIR) / "var" / "test" / "screenshots"
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SERIOUS = ("serious", "critical")
# Nothing that is not named, nothing inline, nothing from elsewhere, in no frame.
STRICT = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
    "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip

Prepare = Callable[[Page, PretendedApi], None]


def stay(page: Page, api: PretendedApi) -> None:
    """The page as it opens."""


def answered(page: Page, api: PretendedApi) -> None:
    newer = ({"document": "returns", "version": 3},)
    long = citation(2, document="refunds", title="Refunds", quote="Money goes back. " * 90)
    api.answers(whole(answer("Thirty days [1]. Phones have 14 [2].", citation(1), long, newer=newer)))
    ask(page)
    expect(page.locator("#passage-2")).to_be_visible()


def refused(page: Page, api: PretendedApi) -> None:
    api.answers(refusal(503, "provider_unavailable", "The provider's quota is used up.", retry_after=60))
    ask(page)
    expect(page.get_by_role("alert")).to_be_visible()


def chosen(page: Page, api: PretendedApi) -> None:
    api.uploads(refusal(503, "queue_full", "No place is free.", retry_after=60))
    files = [FilePayload(name=f"{name}.md", mimeType="", buffer=b"# X") for name in ("Returns", "Gift cards")]
    page.get_by_label("Choose files").set_input_files(files)
    page.locator(".upload").first.get_by_role("button", name="Upload").click()
    expect(page.locator(".upload").first.get_by_role("timer")).to_be_visible()


def measured(page: Page, api: PretendedApi) -> None:
    expect(page.locator(".letter")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text("stands still")
    page.locator("#chart-documents-depth").get_by_text("As a table").click()
    expect(page.get_by_role("region", name="Documents: unfinished jobs, as a table").get_by_role("row")).to_have_count(
        61
    )


PAGES: dict[str, tuple[str, Prepare]] = {
    "sign-in": ("/sign-in/?next=/news/", stay),
    "ask": ("/", stay),
    "ask-answered": ("/", answered),
    "ask-refused": ("/", refused),
    "upload": ("/upload/", chosen),
    "documents": ("/documents/", stay),
    "document": ("/documents/returns/", stay),
    "document-failed": ("/documents/refunds/", stay),
    "news": ("/news/", stay),
    "operations": ("/operations/", measured),
    "missing": ("/documents/nothing/", stay),
}


@pytest.fixture
def filled(db: None) -> None:
    stand()
    history.forget()
    shelves.add_version("returns", summary="Thirty days for all that was bought online or in a store.")
    shelves.add_version("returns", title="Returns", summary="Sixty days.")
    shelves.use("returns", 3, views=40, citations=12)
    shelves.use("returns", 9, views=11, citations=2)
    waiting = shelves.add_version("returns", "queued")
    shelves.take_place(waiting.job, queued_at="2026-01-01T00:00:00Z")
    shelves.add_version("refunds", title="<b>Refunds</b> & " + "unbreakable" * 12, summary="word " * 60)
    dead_letter("refunds")


def faults(page: Page) -> list[str]:
    """What axe calls serious or critical, with the elements that it means."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes']][:3]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def policy_of(opened: Response) -> dict[str, str]:
    """The directives of the answer's content policy."""
    directives = opened.headers["content-security-policy"].split(";")
    return dict(directive.strip().split(" ", 1) for directive in directives)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_fits_and_keeps_to_the_policy(
    page: Page, sign_in: SignIn, api: PretendedApi, filled: None, name: str
) -> None:
    path, prepare = PAGES[name]
    if name != "sign-in":
        sign_in("omar", "ask", "upload", "operate")
    page.set_viewport_size(DESK)  # type: ignore[arg-type]  # a plain dict
    opened = page.goto(path)
    assert opened is not None
    # A breach of the policy on the way is a console error, which fails the test where the page is closed.
    assert policy_of(opened).items() >= STRICT.items()
    prepare(page, api)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for place, size in (("desktop", DESK), ("phone", PHONE)):
        page.set_viewport_size(size)  # type: ignore[arg-type]  # a plain dict
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], place
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.screenshot(path=PICTURES / f"{name}-{place}-{scheme}.png", full_page=True)
            if (place, scheme) in (("desktop", "light"), ("phone", "dark")):
                assert faults(page) == [], (place, scheme)


def test_the_admin_and_the_schema_load_nothing_that_the_policy_forbids(
    page: Page, sign_in: SignIn, filled: None
) -> None:
    person = sign_in("omar", "operate")
    User.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
    for name in ("", "ingestion/job/", "ingestion/eventrecord/", "ingestion/document/", "ingestion/caller/"):
        opened = page.goto(f"/admin/{name}")
        assert opened is not None
        assert opened.status == 200, name
        assert policy_of(opened).items() >= STRICT.items(), name
    opened = page.goto("/api/docs")
    assert opened is not None
    assert policy_of(opened)["script-src"] == "'self'"
    expect(page.get_by_role("heading", name="Larkfield").first).to_be_visible()
    page.goto("/operations/")
    page.get_by_role("link", name="refunds, version 2").click()
    expect(page).to_have_url(re.compile(r"/admin/ingestion/job/[0-9a-f-]+/change/"))


ADMIN = (
    "",
    "ingestion/job/",
    "ingestion/eventrecord/",
    "ingestion/document/",
    "ingestion/caller/",
    "ingestion/providercall/",
)


@pytest.mark.parametrize("area", ADMIN)
def test_the_admin_is_accessible(page: Page, sign_in: SignIn, filled: None, area: str) -> None:
    person = sign_in("omar", "ask", "upload", "operate")
    User.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]  # a plain dict
    page.goto(f"/admin/{area}")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    assert not (found := faults(page)), "\n".join(found)
