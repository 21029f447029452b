"""The page Ask: an answer with its passages, and what a person reads when there is none."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from assistant.tests.browser import shelves
from assistant.tests.browser.conftest import PASSWORD, SignIn
from assistant.tests.browser.pretended import PretendedApi, refusal, stream, whole
from ingestion.models import EventRecord
from ingestion.tests.making import stand

pytestmark = pytest.mark.browser

QUESTION = "How long may a phone be returned?"


def citation(marker: int, **changes: Any) -> dict[str, Any]:
    usual = {
        "marker": marker, "document": "returns", "title": "Returns", "version": 2, "position": marker,
        "heading_path": ["Returns", "Periods"], "start": 0, "end": 21, "quote": f"Passage number {marker}.",
    }  # fmt: skip
    return {**usual, **changes}


def answer(text: str, *citations: dict[str, Any], newer: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"answer": text, "citations": list(citations), "newer_pending": list(newer), "cached": False, "usage": {}}


def streamed(content: dict[str, Any]) -> Any:
    pieces = [("delta", {"text": piece}) for piece in content["answer"].partition(". ")]
    return stream(*pieces, ("done", content))


def ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


@pytest.fixture
def asking(page: Page, sign_in: SignIn) -> Page:
    sign_in("mei", "ask")
    page.goto("/")
    return page


def test_the_markers_of_an_answer_lead_to_their_passages_and_back(asking: Page, api: PretendedApi) -> None:
    text = "Thirty days [1]. Phones have 14 [2], and [7] is no marker."
    api.answers(streamed(answer(text, citation(1), citation(2))))
    ask(asking)
    expect(asking.locator(".passage")).to_have_count(2)
    expect(asking.locator("#answer")).to_have_text("Thirty days 1. Phones have 14 2, and [7] is no marker.")
    asking.locator("#answer").get_by_role("link", name="Passage 2").click()
    expect(asking.locator("#passage-2")).to_be_focused()
    expect(asking.locator("#passage-2")).to_contain_text("version 2")
    expect(asking.locator("#passage-2")).to_contain_text("Returns › Periods")
    expect(asking.locator("#passage-2 blockquote")).to_have_text("Passage number 2.")
    asking.get_by_role("link", name="Passage 2, back to the answer").click()
    expect(asking.locator("#cited-2")).to_be_focused()


def test_a_citation_says_that_a_newer_version_waits(asking: Page, api: PretendedApi) -> None:
    newer = ({"document": "returns", "version": 3},)
    api.answers(streamed(answer("Yes [1]. No [2].", citation(1), citation(2, document="refunds"), newer=newer)))
    ask(asking)
    expect(asking.locator("#passage-1")).to_contain_text("A newer version (3) is being prepared.")
    expect(asking.locator("#passage-2")).not_to_contain_text("newer version")


def test_text_from_a_document_is_shown_and_never_read_as_markup(asking: Page, api: PretendedApi) -> None:
    hostile = "<img src=x onerror=alert(1)><b>bold</b>"
    api.answers(streamed(answer(f"{hostile} [1].", citation(1, title=hostile, quote=hostile, heading_path=[hostile]))))
    ask(asking, hostile)
    passage = asking.locator("#passage-1")
    expect(passage.locator("blockquote")).to_have_text(hostile)
    expect(passage.locator("h3")).to_have_text(hostile)
    assert asking.locator("#reply img, #reply b").count() == 0


def test_an_answer_that_comes_whole_is_shown_too(asking: Page, api: PretendedApi) -> None:
    api.answers(whole(answer("Thirty days [1].", citation(1))))
    ask(asking)
    expect(asking.locator("#passage-1")).to_be_visible()
    expect(asking.get_by_role("status").first).to_have_text("Answered, with 1 passage.")


def test_a_citation_is_shown_in_its_passage_with_its_words_marked_and_its_age(asking: Page, api: PretendedApi) -> None:
    version = shelves.add_version("returns")
    text = "## 🌾 Periods\n\nAll goods: thirty days. Phones: fourteen. <b>No</b> exceptions.\n"
    shelves.add_chunk(version, 1, 100, text)
    quote = "Phones: fourteen."
    start = 100 + text.index(quote)
    cited = citation(1, version=1, position=1, start=start, end=start + len(quote), quote=quote)
    api.answers(whole(answer("Phones have 14 days [1].", cited)))
    ask(asking)
    passage = asking.locator("#passage-1")
    expect(passage.locator("mark")).to_have_text(quote)
    expect(passage.locator("blockquote")).to_have_text(text.strip())
    expect(passage).to_contain_text("version 1, published")
    assert passage.locator("blockquote b").count() == 0


def test_a_passage_that_holds_the_quote_no_longer_shows_the_quote_alone(asking: Page, api: PretendedApi) -> None:
    shelves.add_chunk(shelves.add_version("returns"), 1, 0, "Something else by now.")
    api.answers(whole(answer("Thirty days [1].", citation(1, version=1, position=1))))
    ask(asking)
    expect(asking.locator("#passage-1")).to_contain_text("version 1, published")
    expect(asking.locator("#passage-1 blockquote")).to_have_text("Passage number 1.")


def rate(page: Page, word: str) -> None:
    page.get_by_role("group", name="Was this helpful?").get_by_role("button", name=word).click()


def test_a_rating_goes_in_as_an_event_and_once_only(asking: Page, api: PretendedApi) -> None:
    stand()
    api.answers(whole(answer("Thirty days [1].", citation(1))))
    ask(asking)
    rate(asking, "Yes")
    expect(asking.locator("#feedback-said")).to_have_text("Thank you; it is counted.")
    ask(asking)
    expect(asking.locator("#feedback-said")).to_have_text("")
    rate(asking, "Yes")
    expect(asking.locator("#feedback-said")).to_have_text("You said so before; thank you.")
    ask(asking)
    expect(asking.locator("#feedback-said")).to_have_text("")
    rate(asking, "No")
    expect(asking.locator("#feedback-said")).to_have_text("You rated this answer before; the first rating is kept.")
    assert [event.payload["rating"] for event in EventRecord.objects.all()] == [5]


def test_a_rating_that_finds_the_queue_full_is_sent_again_by_itself(asking: Page, api: PretendedApi) -> None:
    api.answers(whole(answer("Thirty days [1].", citation(1))))
    api.feedback(refusal(503, "queue_full", "The queue is full.", retry_after=1), whole({"known": False}, 202))
    ask(asking)
    rate(asking, "No")
    expect(asking.locator("#feedback-said")).to_contain_text("The queue is full. It is sent again in 1 s.")
    expect(asking.locator("#feedback-said")).to_have_text("Thank you; it is counted.")
    sent: list[Any] = [request.post_data_json for request in api.asked if request.url.endswith("/feedback")]
    assert sent[0] == sent[1]
    assert sent[0]["helpful"] is False


def test_an_answer_without_a_passage_can_t_be_rated(asking: Page, api: PretendedApi) -> None:
    api.answers(whole(answer("This is not found in the policies.")))
    ask(asking)
    expect(asking.locator("#answer")).to_contain_text("not found")
    expect(asking.locator("#feedback")).to_be_hidden()


def test_it_says_that_the_policies_do_not_answer(asking: Page, api: PretendedApi) -> None:
    api.answers(streamed(answer("This is not found in the policies.")))
    ask(asking)
    expect(asking.locator("#status")).to_have_text("Nothing was found in the policies.")
    expect(asking.locator("#answer")).to_have_text("This is not found in the policies.")
    expect(asking.locator("#sources")).to_be_hidden()


@pytest.mark.parametrize("status, code", [(429, "rate_limited"), (503, "provider_unavailable")])
def test_a_refused_question_can_be_asked_again_when_the_time_has_come(
    asking: Page, api: PretendedApi, status: int, code: str
) -> None:
    api.answers(
        refusal(status, code, "Not at the moment.", retry_after=2), streamed(answer("Thirty days [1].", citation(1)))
    )
    ask(asking)
    again = asking.get_by_role("button", name="Ask again")
    expect(asking.get_by_role("alert")).to_have_text("Not at the moment.")
    expect(asking.get_by_role("timer")).to_contain_text("possible in")
    assert again.is_disabled()
    again.click()
    expect(asking.locator("#passage-1")).to_be_visible()
    expect(asking.locator("#trouble")).to_be_hidden()


@pytest.mark.parametrize("last", [(), (("error", {"status": 500, "detail": "The answer broke off."}),)])
def test_an_answer_that_breaks_off_says_so(asking: Page, api: PretendedApi, last: tuple[Any, ...]) -> None:
    api.answers(stream(("delta", {"text": "Thirty days"}), *last))
    ask(asking)
    expect(asking.get_by_role("alert")).to_have_text("The answer broke off.")
    expect(asking.locator("#answer")).to_have_text("Thirty days")
    expect(asking.get_by_role("button", name="Ask again")).to_be_enabled()


def test_a_refusal_for_want_of_a_right_is_told_in_its_own_words(asking: Page, api: PretendedApi) -> None:
    api.answers(refusal(403, "forbidden", "This needs the right 'ask'; ask an operator."))
    ask(asking)
    expect(asking.get_by_role("alert")).to_have_text("This needs the right 'ask'; ask an operator.")
    assert asking.get_by_role("button", name="Ask again").count() == 0


def test_the_question_outlives_a_session_that_has_ended(asking: Page) -> None:
    Session.objects.all().delete()
    ask(asking)
    expect(asking.get_by_role("alert")).to_contain_text("Your session has ended.")
    asking.get_by_role("link", name="Sign in again").click()
    asking.get_by_label("User name").fill("mei")
    asking.get_by_label("Password").fill(PASSWORD)
    asking.get_by_role("button", name="Sign in").click()
    expect(asking.get_by_label("Your question")).to_have_value(QUESTION)


def test_shift_and_enter_starts_a_new_line(asking: Page, api: PretendedApi) -> None:
    api.answers(streamed(answer("Thirty days [1].", citation(1))))
    field = asking.get_by_label("Your question")
    field.fill("One")
    field.press("Shift+Enter")
    field.press_sequentially("two")
    assert api.asked == []
    field.press("Control+Enter")
    expect(asking.locator("#passage-1")).to_be_visible()
    assert api.asked[0].post_data_json == {"question": "One\ntwo"}
