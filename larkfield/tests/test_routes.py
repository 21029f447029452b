"""What no API view answers: unknown paths below /v1/ and the open routes, in the API's own words."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.test import Client

from larkfield import metrics

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


def test_numbers_that_can_t_be_read_are_unavailable_not_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(registry: object) -> bytes:
        raise OperationalError

    monkeypatch.setattr(metrics, "generate_latest", no_answer)
    response = Client().get("/metrics")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")


@pytest.mark.django_db
def test_without_a_folder_that_takes_files_the_product_is_not_ready(tmp_path: Path, settings: LazySettings) -> None:
    folder = tmp_path / "files"
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "default": backend}
    assert Client().get("/readyz").json()["checks"]["storage"] == "ok", "the folder of a new product is made"
    folder.rmdir()
    folder.write_text("in the way")
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["checks"]["storage"]) == (503, "down")
