"""The streamed answer: the same words as the whole one, piece by piece, and an honest end."""

import json
from typing import Any

import pytest
from django.conf import LazySettings

from assistant.prompt import NOT_FOUND
from assistant.tests.conftest import Asking
from ingestion.provider.errors import ProviderFailed
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db, pytest.mark.urls("assistant.urls")]

QUESTION = "How many days does a customer have to return an item bought online?"
STREAM = "text/event-stream"


def events(response: Any) -> list[tuple[str, dict[str, Any]]]:
    assert response.headers["Content-Type"].startswith(STREAM)
    blocks = b"".join(response.streaming_content).decode().split("\n\n")
    assert blocks.pop() == ""
    lines = [block.split("\n") for block in blocks]
    return [(name.removeprefix("event: "), json.loads(value.removeprefix("data: "))) for name, value in lines]


def stripped(made: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in made.items() if name not in ("cached", "usage")}


@pytest.mark.parametrize("question", [QUESTION, "How is a gift card refunded?", "What is the capital of Portugal?"])
def test_the_pieces_are_the_answer_and_the_end_is_the_whole_object(
    asking: Asking, without_valkey: None, question: str
) -> None:
    *deltas, done = events(asking.answer(question, STREAM))
    assert {name for name, _ in deltas} == {"delta"}
    assert done[0] == "done"
    assert "".join(piece["text"] for _, piece in deltas) == done[1]["answer"]
    whole = asking.object(question)
    assert done[1] == whole


def test_a_cached_answer_streams_too(asking: Asking) -> None:
    whole = asking.object(QUESTION)
    (name, delta), (last, done) = events(asking.answer(QUESTION, STREAM))
    assert (name, last) == ("delta", "done")
    assert delta["text"] == whole["answer"]
    assert done["cached"]
    assert stripped(done) == stripped(whole)


def test_a_streamed_answer_is_kept_for_the_next_caller(asking: Asking) -> None:
    _, done = events(asking.answer(QUESTION, STREAM))[-1]
    again = asking.object(QUESTION)
    assert again["cached"]
    assert stripped(again) == stripped(done)


def test_a_media_type_is_asked_for_in_any_case(asking: Asking) -> None:
    assert events(asking.answer(QUESTION, STREAM.upper()))[-1][0] == "done"


def test_proxies_are_told_not_to_hold_the_stream_back(asking: Asking) -> None:
    response = asking.answer("What is the capital of Portugal?", f"{STREAM}, application/json;q=0.5")
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert events(response)[0] == ("delta", {"text": NOT_FOUND})


def test_a_failure_before_the_first_piece_is_an_ordinary_problem(
    asking: Asking, simulator: Simulator, settings: LazySettings
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    simulator.faults([{"path": "chat/completions", "fault": "status:500", "times": 2}])
    response = asking.answer(QUESTION, STREAM)
    assert (response.status_code, response.json()["code"]) == (503, "provider_unavailable")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert asking.answer(QUESTION, STREAM).status_code == 200


def test_a_wrong_question_is_an_ordinary_problem(asking: Asking) -> None:
    assert asking.answer("", STREAM).json()["code"] == "invalid_request"


def test_a_stream_that_breaks_off_before_a_word_was_shown_is_begun_again(asking: Asking, simulator: Simulator) -> None:
    simulator.faults([{"path": "chat/completions", "fault": "disconnect"}])
    assert events(asking.answer(QUESTION, STREAM))[-1][0] == "done"


def test_a_failure_after_the_start_ends_the_stream_with_the_problem(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1

    def broken_off(*args: Any, **kwargs: Any) -> Any:
        yield "A customer has 30 days to return an item [1, 2, 3, 4]. And"
        raise ProviderFailed("provider_disconnected", "The stream broke off.")

    monkeypatch.setattr("assistant.answering.stream_chat", broken_off)
    (first, delta), (last, problem) = events(asking.answer("How long may I take to return an item?", STREAM))
    assert (first, last) == ("delta", "error")
    assert delta["text"].startswith("A customer has 30 days")
    assert (problem["code"], problem["status"]) == ("provider_unavailable", 503)
    monkeypatch.undo()
    settings.QUESTIONS_PER_MINUTE = 1
    assert asking.answer(QUESTION, STREAM).status_code == 200
