"""What no API view answers: unknown paths below /v1/ and the open routes, in the API's own words."""

import pytest
from django.test import Client

UNSAFE = ("post", "put", "patch", "delete")


@pytest.fixture
def outsider() -> Client:
    """A client whose forms are checked, as a real one's are."""
    return Client(enforce_csrf_checks=True)


@pytest.mark.parametrize("method", ("get", *UNSAFE))
@pytest.mark.parametrize("path", ("/v1/nothing", "/v1/answers/", "/v1", "/api/other"))
def test_an_unknown_path_below_the_api_is_a_problem_for_every_method(outsider: Client, path: str, method: str) -> None:
    response = getattr(outsider, method)(path)
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("path", ("/healthz", "/readyz", "/metrics"))
def test_the_open_routes_are_only_read(outsider: Client, path: str, method: str) -> None:
    response = getattr(outsider, method)(path)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
    assert response.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize(("path", "media_type"), (("/v1/news", "application/problem+json"), ("/news/", "text/html")))
def test_a_foreign_host_is_refused_in_the_form_of_the_path(path: str, media_type: str) -> None:
    response = Client().get(path, headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert response.headers["Content-Type"].startswith(media_type)
