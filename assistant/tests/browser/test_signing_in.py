"""Signing in and out, and how the pages fit a phone."""

import pytest
from playwright.sync_api import Page, expect

from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import PASSWORD, SignIn

pytestmark = pytest.mark.browser


def sign_in_by_hand(page: Page, password: str) -> None:
    page.get_by_label("User name").fill("omar")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")


def test_a_person_signs_in_and_out(page: Page, person: SignIn) -> None:
    person("omar", "ask", "upload")
    page.goto("/news/")
    sign_in_by_hand(page, "not the password")
    expect(page.get_by_role("alert")).to_be_visible()
    sign_in_by_hand(page, PASSWORD)
    expect(page.get_by_role("heading", name="News")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/news/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_keyboard_reaches_the_content_past_the_masthead(page: Page, sign_in: SignIn) -> None:
    sign_in("omar", "ask")
    page.goto("/news/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone(page: Page, sign_in: SignIn, scheme: str) -> None:
    sign_in("omar", "ask", "upload")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    shelves.add_version("returns", title="A" * 120, summary="word " * 40 + "x" * 200)
    shelves.add_version("returns", "queued")
    shelves.use("returns", 3, views=1_000_000, citations=5)
    for path in ("/", "/upload/", "/documents/", "/documents/returns/", "/news/", "/documents/nothing/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
