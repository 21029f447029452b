"""The OpenAPI schema says what the routes do, and its page can be read."""

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS

from ingestion.problems import TITLES
from ingestion.tests import living, making
from ingestion.tests.eventing import event
from larkfield.tests.schema_checking import faults, filled, schema

JSON = "application/json"


def test_it_is_made_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    call_command("spectacular", validate=True, fail_on_warn=True)
    assert "openapi: 3.1.0" in capsys.readouterr().out


def _routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for one in patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLPattern):
            yield path
        else:
            yield from _routes(one.url_patterns, path)


def test_every_route_of_the_api_stands_in_it() -> None:
    routes = [route for route in _routes(get_resolver().url_patterns) if route.startswith("v1/")]
    assert len(routes) >= 18
    assert len([path for path in schema()["paths"] if path.startswith("/v1/")]) == len(routes)


def test_every_refusal_has_a_code_a_status_and_an_example() -> None:
    seen = set()
    for path, operations in schema()["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if int(status) < 400 or not path.startswith("/v1/"):
                    continue
                (problem,) = answer["content"].values()
                codes = problem["schema"]["allOf"][1]["properties"]["code"]["enum"]
                assert {TITLES[code][0] for code in codes} == {int(status)}
                assert len(problem["examples"]) == len(codes)
                seen.update(codes)
    # What no operation of the schema can meet: another method than its own.
    assert seen == set(TITLES) - {"method_not_allowed"}


def test_its_page_is_served_with_its_own_scripts_under_a_policy() -> None:
    page = Client().get("/api/docs")
    assert page.status_code == 200
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    for style in re.findall("<style>(.*?)</style>", page.content.decode(), re.DOTALL):
        assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy
    assert "script-src 'self';" in policy
    assert "<script>" not in page.content.decode(), "no inline script"
    assert b"https://" not in page.content, "nothing from elsewhere"


@pytest.fixture(scope="module")
def alive(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[living.Living]:
    with django_db_blocker.unblock(), living.surroundings(tmp_path_factory.mktemp("files")):
        yield living.live()


# The schema's path and what stands in its places.
READ: tuple[tuple[str, dict[str, object]], ...] = (
    ("/v1/documents", {}),
    ("/v1/documents/{slug}", {"slug": "returns"}),
    ("/v1/documents/{slug}", {"slug": "refunds"}),
    ("/v1/documents/{slug}", {"slug": "nowhere"}),
    ("/v1/documents/{slug}/versions", {"slug": "returns"}),
    ("/v1/documents/{slug}/versions", {"slug": "cards"}),
    ("/v1/documents/{slug}/versions/{number}", {"slug": "returns", "number": "1?include=chunks"}),
    ("/v1/documents/{slug}/versions/{number}", {"slug": "returns", "number": "1?include=all"}),
    ("/v1/documents/{slug}/versions/{number}/text", {"slug": "returns", "number": 1}),
    ("/v1/documents/{slug}/versions/{number}/text", {"slug": "refunds", "number": 2}),
    ("/v1/documents/{slug}/versions/{number}/file", {"slug": "returns", "number": 2}),
    ("/v1/documents/{slug}/usage", {"slug": "returns"}),
    ("/v1/news", {}),
    ("/v1/queue", {}),
    ("/v1/events/ledger", {}),
    ("/v1/events/{producer}/{event_id}", {"producer": "helpdesk-eu", "event_id": "e-3"}),
    ("/healthz", {}),
    ("/readyz", {}),
    ("/metrics", {}),
)


@pytest.mark.parametrize(("path", "values"), READ)
def test_an_answer_has_what_the_schema_says_and_nothing_else(
    alive: living.Living, path: str, values: dict[str, object], django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        response = alive.omar.client.get(filled(path, **values))
        response.close()
    assert faults(response, path) == []


def test_jobs_searches_answers_and_refusals_are_as_the_schema_says(
    alive: living.Living, django_db_blocker: Any
) -> None:
    client = alive.omar.client
    with django_db_blocker.unblock():
        for row in client.get("/v1/documents/returns/versions").json()["results"]:
            assert faults(client.get(row["job"]["url"]), "/v1/jobs/{job_id}") == []
        upload = making.Uploader.upload(alive.omar, "lists")
        assert faults(upload, "/v1/documents/{slug}/versions", "post") == []
        job = upload.json()["job"]["url"]
        for verb in ("retry", "cancel", "cancel"):
            assert faults(client.post(f"{job}/{verb}"), f"/v1/jobs/{{job_id}}/{verb}", "post") == []
        assert faults(alive.omar.upload("lists", b""), "/v1/documents/{slug}/versions", "post") == []
        assert faults(client.get("/v1/search?q=return+goods"), "/v1/search") == []
        assert faults(client.get("/v1/search"), "/v1/search") == []
        asked = client.post("/v1/answers", {"question": "How long may goods be returned?"}, content_type=JSON)
        assert faults(asked, "/v1/answers", "post") == []
        assert faults(Client().get("/v1/news"), "/v1/news") == []


def test_events_are_answered_as_the_schema_says(alive: living.Living, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock():
        client = making.Uploader("tomas", "produce").client
        one = event(90, producer="shop", payload={"document": "returns", "version": 2})
        for sent in (one, one, {**one, "type": "unheard.of"}, {**one, "payload": {}}):
            assert faults(client.post("/v1/events", sent, content_type=JSON), "/v1/events", "post") == []
        batch = {"events": [one, {**one, "event_id": "e-91"}, {"producer": "shop"}, 7, {**one, "payload": {"a": 1}}]}
        answered = client.post("/v1/events/batch", batch, content_type=JSON)
        assert faults(answered, "/v1/events/batch", "post") == []
        assert len({outcome["outcome"] for outcome in answered.json()["outcomes"]}) == 4
