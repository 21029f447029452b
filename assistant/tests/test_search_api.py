"""GET /v1/search: what is found, what never is, and what a refusal costs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from assistant.tests import policies, publishing
from assistant.tests.conftest import Asking
from ingestion.models import Chunk, ProviderCall
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db, pytest.mark.urls("assistant.urls")]


def test_the_passage_that_answers_comes_first_with_the_exact_slice(asking: Asking) -> None:
    first = asking.results("How many days do I have to return an item?")[0]
    assert (first["document"], first["version"], first["heading_path"]) == ("returns", 1, ["The standard period"])
    assert first["text"] == policies.RETURNS[first["start"] : first["end"]]
    assert set(first) == {"document", "version", "position", "heading_path", "start", "end", "text", "score"}


def test_results_come_best_first_without_doubles(asking: Asking) -> None:
    results = asking.results("gift card refund")
    scores = [one["score"] for one in results]
    assert scores == sorted(scores, reverse=True)
    assert len({(one["document"], one["position"]) for one in results}) == len(results) == Chunk.objects.count()


def test_as_many_results_come_as_are_asked_for_where_that_many_exist(asking: Asking) -> None:
    cuts = [f"## Rule {n}\n\nSomething about topic {n}.\n" for n in range(60)]
    for _ in range(3):  # superseded versions crowd the neighbourhood and must take no place
        publishing.publish("rules", "".join(cuts), cuts=cuts)
    assert len(asking.results("qwertz", limit=50)) == 50
    assert len(asking.results("topic", limit=7)) == 7
    assert len(asking.results("topic", limit=50, document="rules")) == 50
    assert len(asking.results("topic")) == 10


def test_one_document_can_be_searched_alone(asking: Asking) -> None:
    assert {one["document"] for one in asking.results("days", document="refunds")} == {"refunds"}


def test_a_document_that_is_not_there_is_not_found_and_embeds_nothing(asking: Asking) -> None:
    publishing.delete("refunds")
    for slug in ("refunds", "unknown", "", "RETURNS", "a\x00b"):
        response = asking.search("days", document=slug)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert not ProviderCall.objects.exists()


def find_by_search(asking: Asking, question: str) -> set[tuple[str, int]]:
    return {(one["document"], one["version"]) for one in asking.results(question, limit=50)}


def find_in_returns(asking: Asking, question: str) -> set[tuple[str, int]]:
    return {(one["document"], one["version"]) for one in asking.results(question, limit=50, document="returns")}


def find_by_answer(asking: Asking, question: str) -> set[tuple[str, int]]:
    return {(one["document"], one["version"]) for one in asking.object(question)["citations"]}


EVERY_ROUTE = pytest.mark.parametrize("route", [find_by_search, find_in_returns, find_by_answer])
Route = Callable[[Asking, str], set[tuple[str, int]]]
QUESTION = "How many days does a customer have to return an item bought online?"


@EVERY_ROUTE
@pytest.mark.parametrize("state", ["queued", "running", "failed", "dead_letter", "cancelled"])
def test_a_version_that_is_not_published_is_never_found(asking: Asking, route: Route, state: str) -> None:
    publishing.wait("returns", policies.LATER_RETURNS, state=state)
    assert ("returns", 1) in route(asking, QUESTION)
    assert ("returns", 2) not in route(asking, QUESTION)


@EVERY_ROUTE
def test_a_superseded_version_is_never_found(asking: Asking, route: Route) -> None:
    publishing.publish("returns", policies.LATER_RETURNS)
    found = route(asking, QUESTION)
    assert ("returns", 2) in found
    assert ("returns", 1) not in found


@EVERY_ROUTE
def test_a_superseded_version_stays_hidden_even_if_its_chunks_were_left_searchable(
    asking: Asking, route: Route
) -> None:
    publishing.publish("returns", policies.LATER_RETURNS)
    Chunk.objects.update(is_searchable=True)
    assert ("returns", 1) not in route(asking, QUESTION)


@pytest.mark.parametrize("route", [find_by_search, find_by_answer])
def test_a_deleted_document_is_never_found(asking: Asking, route: Route) -> None:
    route(asking, QUESTION)
    publishing.delete("returns")
    assert not any(slug == "returns" for slug, _ in route(asking, QUESTION))


def test_vectors_of_another_embedding_version_are_not_compared(asking: Asking, settings: LazySettings) -> None:
    settings.EMBEDDING_DIMENSION = 64
    publishing.publish("slippers", "# Slippers\n\nA customer has 30 days to return slippers.\n")
    found = asking.results("return slippers", limit=50)
    assert found[0]["document"] == "slippers"


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"q": ""},
        {"q": " \t\x00 "},
        {"q": "x" * 2_001},
        {"q": "x", "limit": "0"},
        {"q": "x", "limit": "51"},
        {"q": "x", "limit": "-1"},
        {"q": "x", "limit": "ten"},
        {"q": "x", "limit": "²"},
        {"q": "x", "limit": "9" * 5_000},
    ],
)
def test_a_wrong_parameter_is_refused_and_costs_nothing(
    asking: Asking, settings: LazySettings, parameters: dict[str, Any]
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    response = asking.client.get("/v1/search", parameters)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
    assert not ProviderCall.objects.exists()
    assert asking.search("days").status_code == 200


@pytest.mark.parametrize(
    "q", ["x" * 2_000, "漢" * 2_000, "' | & ! <-> :* \\", "%s %(q)s", "the of and", "🤖", "a\x00b"]
)
def test_any_text_can_be_searched_for(asking: Asking, q: str) -> None:
    assert len(asking.results(q, limit=3)) == 3


def test_it_needs_a_token_and_the_right_to_ask(asking: Asking) -> None:
    assert Client().get("/v1/search", {"q": "x"}).status_code == 401
    _, token = publishing.caller("kwame", "upload")
    refused = Client(headers={"Authorization": f"Bearer {token}"}).get("/v1/search", {"q": "x"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_a_question_is_embedded_once_however_often_it_is_asked(asking: Asking) -> None:
    asking.results("return  period")
    asking.results(" return period ", limit=3)
    assert ProviderCall.objects.count() == 1


def test_without_valkey_every_question_is_embedded(asking: Asking, without_valkey: None) -> None:
    asking.results("return period")
    asking.results("return period")
    assert ProviderCall.objects.count() == 2


def test_an_outage_of_the_provider_is_a_503_that_costs_no_question(
    asking: Asking, simulator: Simulator, settings: LazySettings
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    simulator.mode("outage")
    for _ in range(3):
        response = asking.search("return period")
        assert (response.status_code, response.json()["code"]) == (503, "provider_unavailable")
        assert int(response.headers["Retry-After"]) >= 1


def test_one_failed_call_is_tried_again_at_once(asking: Asking, simulator: Simulator) -> None:
    simulator.faults([{"path": "embeddings", "fault": "status:500"}])
    assert asking.results("return period")


@pytest.mark.parametrize("fault", ["nan", "zero", "wrong_dimension", "short"])
def test_a_vector_that_can_not_be_used_is_a_503_and_is_not_kept(
    asking: Asking, simulator: Simulator, fault: str
) -> None:
    simulator.faults([{"path": "embeddings", "fault": fault, "times": 2}])
    assert asking.search("return period").status_code == 503
    simulator.reset()
    assert asking.results("return period")


def test_the_question_above_the_limit_of_a_minute_is_refused(asking: Asking, settings: LazySettings) -> None:
    settings.QUESTIONS_PER_MINUTE = 2
    assert [asking.search("days").status_code for _ in range(3)] == [200, 200, 429]
