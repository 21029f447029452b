"""POST /v1/answers: cited answers from what is published now, and the cache that never outlives it."""

from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis

from assistant.prompt import NOT_FOUND
from assistant.tests import policies, publishing
from assistant.tests.conftest import Asking
from ingestion.models import DocumentVersion, ProviderCall
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db, pytest.mark.urls("assistant.urls")]

QUESTION = "How many days does a customer have to return an item bought online?"


def test_an_answer_cites_the_exact_words_that_it_rests_on(asking: Asking) -> None:
    made = asking.object(QUESTION)
    assert "30 days" in made["answer"]
    assert "[1]" in made["answer"]
    first = made["citations"][0]
    text = DocumentVersion.objects.get(document__slug=first["document"], number=first["version"]).text or ""
    assert first["quote"] == text[first["start"] : first["end"]]
    assert first["quote"] == "A customer has **30 days** to return an item bought online or in a store."
    assert (first["marker"], first["document"], first["title"], first["version"], first["heading_path"]) == (
        1, "returns", "Returns", 1, ["The standard period"],
    )  # fmt: skip


def test_the_object_has_the_parts_of_the_contract(asking: Asking) -> None:
    made = asking.object(QUESTION)
    assert set(made) == {"answer", "citations", "newer_pending", "cached", "usage"}
    assert set(made["citations"][0]) == {
        "marker", "document", "title", "version", "position", "heading_path", "start", "end", "quote",
    }  # fmt: skip
    assert (made["cached"], made["newer_pending"]) == (False, [])


def test_the_usage_is_what_the_ledger_has(asking: Asking) -> None:
    usage = asking.object(QUESTION)["usage"]
    calls = ProviderCall.objects.all()
    assert Decimal(usage["cost_usd"]) == sum(call.cost_usd for call in calls) > 0
    assert usage["prompt_tokens"] + usage["embedding_tokens"] == sum(call.prompt_tokens for call in calls)
    assert {call.purpose for call in calls} == {"question"}


def test_a_table_row_answers(asking: Asking) -> None:
    made = asking.object("What is the period for mattresses?")
    assert "100 nights" in made["answer"]
    assert "| Mattresses | 100 nights |" in [one["quote"] for one in made["citations"]]


@pytest.mark.parametrize("question", ["What is the capital of Portugal?", "Who won the chess championship?", "???"])
def test_what_the_policies_do_not_say_is_not_found(asking: Asking, question: str) -> None:
    made = asking.object(question)
    assert (made["answer"], made["citations"]) == (NOT_FOUND, [])


def test_without_any_document_the_model_is_not_asked(asking: Asking) -> None:
    for slug in ("returns", "refunds", "gift-cards"):
        publishing.delete(slug)
    assert asking.object(QUESTION)["answer"] == NOT_FOUND
    assert set(ProviderCall.objects.values_list("lane", flat=True)) == {"embeddings"}


def test_a_newer_version_that_waits_is_named_until_it_is_published(asking: Asking) -> None:
    assert asking.object(QUESTION)["newer_pending"] == []
    publishing.wait("returns", policies.LATER_RETURNS, state="running")
    publishing.wait("gift-cards", policies.GIFT_CARDS, state="queued")
    made = asking.object(QUESTION)
    assert made["cached"]
    assert {"document": "returns", "version": 2} in made["newer_pending"]
    cited = {one["document"] for one in made["citations"]}
    assert {one["document"] for one in made["newer_pending"]} <= cited


def test_a_version_that_failed_is_not_announced(asking: Asking) -> None:
    publishing.wait("returns", policies.LATER_RETURNS, state="dead_letter")
    assert asking.object(QUESTION)["newer_pending"] == []


def test_the_same_question_is_answered_from_the_cache_at_no_cost(asking: Asking) -> None:
    first, second = asking.object(QUESTION), asking.object(f"  {QUESTION.replace(' ', '  ')}\n")
    assert (first["cached"], second["cached"]) == (False, True)
    assert (second["answer"], second["citations"]) == (first["answer"], first["citations"])
    assert second["usage"] == {
        "prompt_tokens": 0, "completion_tokens": 0, "embedding_tokens": 0, "cost_usd": "0",
    }  # fmt: skip


def test_it_cites_the_old_version_until_the_new_one_is_published_and_then_at_once(asking: Asking) -> None:
    assert "30 days" in asking.object(QUESTION)["answer"]
    publishing.wait("returns", policies.LATER_RETURNS)
    assert "30 days" in asking.object(QUESTION)["answer"]
    publishing.publish("returns", policies.LATER_RETURNS)
    made = asking.object(QUESTION)
    assert "45 days" in made["answer"]
    assert (made["cached"], made["citations"][0]["version"]) == (False, 3)


def test_a_cached_answer_does_not_outlive_its_document(asking: Asking) -> None:
    asking.object(QUESTION)
    publishing.delete("returns")
    assert "returns" not in {one["document"] for one in asking.object(QUESTION)["citations"]}


def test_another_model_or_embedding_has_other_answers_in_the_cache(asking: Asking, settings: LazySettings) -> None:
    asking.object(QUESTION)
    settings.EMBEDDING_DIMENSION = 128
    assert not asking.object(QUESTION)["cached"]


def test_without_valkey_the_answer_is_computed(asking: Asking, without_valkey: None) -> None:
    assert [asking.object(QUESTION)["cached"] for _ in range(2)] == [False, False]


def test_a_cache_entry_that_can_not_be_read_is_not_used(asking: Asking, valkey: Redis) -> None:
    first = asking.object(QUESTION)
    for key in valkey.scan_iter("larkfield:*:answer:*"):
        valkey.set(key, b"\xff{")
    assert asking.object(QUESTION)["answer"] == first["answer"]


def test_an_answer_of_which_nothing_could_be_shown_is_not_kept(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.prompt.RULES", "")
    monkeypatch.setattr("assistant.citations.LEAST_SUPPORT", 2.0)
    assert asking.object(QUESTION)["answer"] == NOT_FOUND
    monkeypatch.undo()
    assert not asking.object(QUESTION)["cached"]


def test_an_outage_is_a_503_that_keeps_nothing_and_costs_no_question(
    asking: Asking, simulator: Simulator, settings: LazySettings
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    simulator.faults([{"path": "chat/completions", "fault": "status:503", "times": 2}])
    response = asking.answer(QUESTION)
    assert (response.status_code, response.json()["code"]) == (503, "provider_unavailable")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert int(response.headers["Retry-After"]) >= 1
    assert not asking.object(QUESTION)["cached"]


def test_one_failed_call_is_tried_again_at_once(asking: Asking, simulator: Simulator) -> None:
    simulator.faults([{"path": "chat/completions", "fault": "disconnect"}])
    assert "30 days" in asking.object(QUESTION)["answer"]


def test_a_used_up_quota_is_a_503_with_the_time_to_wait(asking: Asking, simulator: Simulator) -> None:
    simulator.faults([{"path": "chat/completions", "fault": "insufficient_quota"}])
    response = asking.answer(QUESTION)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 1
    assert "quota" in response.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b'"x"', b"null", b"{}", b'{"question": ""}', b'{"question": " \\n "}', b'{"question": 7}',
        b'{"question": null}', b'{"question": ["x"]}', b'{"question": "\\ud800"}', b'{"question": "a\\u0000b"}',
        b'{"question": "\xff"}', b'{"question": "a", "question": "b"}',
        b'{"question": "' + b"x" * 2_001 + b'"}',
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused_and_costs_nothing(asking: Asking, settings: LazySettings, body: bytes) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    response = asking.client.post("/v1/answers", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
    assert not ProviderCall.objects.exists()
    assert asking.answer(QUESTION).status_code == 200


def test_unknown_keys_are_ignored_and_another_media_type_is_refused(asking: Asking) -> None:
    body: dict[str, Any] = {"question": QUESTION, "mood": "good"}
    assert asking.client.post("/v1/answers", body, content_type="application/json").status_code == 200
    assert asking.client.post("/v1/answers", "question=x", content_type="text/plain").status_code == 415
    assert asking.client.get("/v1/answers").status_code == 405


def test_it_needs_a_token_and_the_right_to_ask(asking: Asking) -> None:
    body = {"question": QUESTION}
    assert Client().post("/v1/answers", body, content_type="application/json").status_code == 401
    _, token = publishing.caller("kwame", "upload", "operate")
    refused = Client(headers={"Authorization": f"Bearer {token}"}).post(
        "/v1/answers", body, content_type="application/json"
    )
    assert refused.status_code == 403


def test_questions_of_both_routes_share_the_callers_limit(asking: Asking, settings: LazySettings) -> None:
    settings.QUESTIONS_PER_MINUTE = 2
    codes = [asking.answer(QUESTION).status_code, asking.search("days").status_code]
    refused = asking.answer(QUESTION)
    assert [*codes, refused.status_code] == [200, 200, 429]
    assert "Retry-After" in refused.headers
