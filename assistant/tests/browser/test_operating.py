"""The page Operations: numbers that move, an alarm that is not missed, dead letters retried where they stand."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from assistant import history
from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import SignIn
from assistant.tests.browser.pretended import PretendedApi, refusal, whole
from ingestion.models import Job
from ingestion.tests.making import stand

pytestmark = pytest.mark.browser

LONG_AGO = "2026-01-01T00:00:00Z"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def operating(page: Page, sign_in: SignIn) -> Page:
    stand()
    history.forget()
    sign_in("kwame", "operate")
    return page


def dead_letter(slug: str = "returns", detail: str = "The reply was cut short.") -> UUID:
    version = shelves.add_version(slug, "dead_letter")
    Job.objects.filter(pk=version.job_id).update(error_code="short_reply", error_detail=detail)
    return version.job_id


def numbers_of(person: Any) -> dict[str, Any]:
    """What the server says now, to be pretended later."""
    client = Client()
    client.force_login(person)
    found: dict[str, Any] = client.get("/operations/numbers").json()
    return found


def test_a_queue_that_nobody_serves_is_an_alarm_that_names_it(operating: Page) -> None:
    operating.goto("/operations/")
    expect(operating.locator("#as-of")).to_contain_text("As of")
    expect(operating.get_by_role("alert")).to_have_text("")
    shelves.take_place(Job.objects.get(pk=shelves.add_version("returns", "queued").job_id), queued_at=LONG_AGO)
    alarm = operating.get_by_role("alert")
    expect(alarm).to_contain_text("The queue “documents” stands still.")
    expect(alarm).to_contain_text("No worker serves this queue.")
    expect(alarm).to_contain_text("1 job unfinished")
    expect(operating).to_have_title(re.compile("⚠ The queue “documents” stands still"))
    expect(operating.locator("#queue-documents .badge")).to_have_text("stands still")
    expect(operating.get_by_role("meter", name="Jobs").first).to_have_attribute("aria-valuetext", "1 of 500")


def test_the_page_says_that_the_database_is_away_and_recovers_by_itself(
    page: Page, sign_in: SignIn, api: PretendedApi
) -> None:
    stand()
    there = whole(numbers_of(sign_in("kwame", "operate")))
    away = refusal(503, "unavailable", "The database does not answer; try again.", retry_after=5)
    api.numbers(there, away, there)
    page.clock.install()
    page.goto("/operations/")
    expect(page.locator("#as-of")).to_contain_text("As of")
    page.clock.run_for(2_100)
    expect(page.locator("#as-of")).to_contain_text("The database does not answer; try again. The numbers are those of")
    page.clock.run_for(5_000)
    expect(page.locator("#as-of")).to_contain_text("As of")


def test_a_session_that_has_ended_is_told_with_the_way_back(operating: Page) -> None:
    operating.goto("/operations/")
    expect(operating.locator("#as-of")).to_contain_text("As of")
    Session.objects.all().delete()
    expect(operating.locator("#as-of")).to_contain_text("Your session has ended.")
    expect(operating.get_by_role("link", name="Sign in again")).to_have_attribute("href", "/sign-in/?next=/operations/")


def test_a_dead_letter_is_retried_where_it_stands(operating: Page) -> None:
    job_id = dead_letter()
    operating.goto("/operations/")
    expect(operating.locator(".letter")).to_contain_text("The reply was cut short.")
    operating.get_by_role("button", name="Retry returns, version 1").click()
    expect(operating.locator("#retry-said")).to_have_text("returns, version 1 is queued again.")
    expect(operating.locator(".letter")).to_have_count(0)
    expect(operating.get_by_role("heading", name="Dead letters")).to_be_focused()
    assert Job.objects.get(pk=job_id).state == "queued"


def test_of_two_operators_who_retry_the_same_one_the_second_is_told(
    operating: Page, live_server: LiveServer, person: SignIn, api: PretendedApi
) -> None:
    job_id = dead_letter()
    client = Client()
    client.force_login(person("omar", "operate"))
    # This page saw the dead letter and was not told yet that another operator was faster.
    seen = client.get("/operations/numbers").json()
    api.numbers(whole(seen))
    operating.goto("/operations/")
    button = operating.get_by_role("button", name="Retry returns, version 1")
    expect(button).to_be_visible()
    assert client.post(f"/v1/jobs/{job_id}/retry").status_code == 202
    button.click()
    said = operating.locator("#retry-said")
    expect(said).to_contain_text("returns, version 1 was not retried: somebody was faster.")
    expect(said).to_contain_text("is queued.")
    assert Job.objects.get(pk=job_id).generation == 1, "it was revived once"


def test_a_retry_that_finds_the_queue_full_says_when_to_come_back(operating: Page) -> None:
    job_id = dead_letter()

    def full(route: Route) -> None:
        reply = refusal(503, "queue_full", "The queue is full.", retry_after=40)
        route.fulfill(status=503, headers=reply.headers, body=reply.body)

    operating.route("**/v1/jobs/*/retry", full)
    operating.goto("/operations/")
    operating.get_by_role("button", name="Retry returns, version 1").click()
    expect(operating.locator("#retry-said")).to_contain_text("The queue is full. Try again in 40 s.")
    expect(operating.get_by_role("button", name="Retry returns, version 1")).to_be_enabled()
    assert Job.objects.get(pk=job_id).state == "dead_letter"


def test_many_dead_letters_are_counted_and_their_words_never_read_as_markup(operating: Page) -> None:
    for number in range(12):
        dead_letter(f"policy-{number}", HOSTILE)
    operating.goto("/operations/")
    expect(operating.locator(".letter")).to_have_count(10)
    expect(operating.locator("#letters-documents")).to_contain_text("The newest 10 of 12 are shown.")
    expect(operating.locator(".letter").first).to_contain_text(HOSTILE)
    assert operating.locator("main img").count() == 0


def test_a_chart_is_read_with_the_arrow_keys_and_as_a_table(operating: Page) -> None:
    shelves.add_version("returns")
    operating.goto("/operations/")
    chart = operating.locator("#chart-documents-flow")
    plot = chart.get_by_role("slider")
    expect(plot).to_have_attribute("aria-valuetext", re.compile(r"^\d\d:\d\d: finished \d, given up 0, accepted \d$"))
    plot.focus()
    operating.keyboard.press("Home")
    expect(plot).to_have_attribute("aria-valuenow", "0")
    operating.keyboard.press("ArrowRight")
    expect(plot).to_have_attribute("aria-valuenow", "1")
    expect(chart.locator(".readout")).to_contain_text("finished 0, given up 0, accepted 0")
    chart.get_by_text("As a table").click()
    expect(chart.get_by_role("row")).to_have_count(61)
    # One accepted and finished, in whichever minute that was.
    expect(chart.get_by_role("cell", name="1", exact=True)).to_have_count(2)


def test_who_may_not_operate_is_told_so_and_not_shown_the_way(page: Page, sign_in: SignIn) -> None:
    sign_in("mei", "ask")
    page.goto("/operations")
    expect(page.get_by_role("main")).to_contain_text("lacks the right to operate")
    expect(page.get_by_role("link", name="Operations")).to_have_count(0)
