"""The passages of an answer: whole, as published, with the place of the quote."""

import pytest

from assistant.tests.browser import shelves
from ingestion.tests.making import Uploader, problem

pytestmark = pytest.mark.django_db

TEXT = "# Returns\n\nThirty days 🌾 for all. More.\n"


@pytest.fixture
def reader() -> Uploader:
    return Uploader("mei", "ask")


def test_a_citation_is_answered_with_its_whole_passage_and_the_age_of_its_version(reader: Uploader) -> None:
    version = shelves.add_version("returns")
    shelves.add_chunk(version, 1, 100, TEXT)
    found = reader.get("/passages?cite=returns:1:1&cite=returns:1:7")["passages"]
    assert [(one["document"], one["version"], one["position"], one["start"]) for one in found] == [
        ("returns", 1, 1, 100)
    ]
    assert found[0]["text"] == TEXT
    assert found[0]["published_at"].endswith("Z")


def test_what_is_not_published_or_was_deleted_is_not_shown(reader: Uploader) -> None:
    shelves.add_chunk(shelves.add_version("returns"), 0, 0, TEXT)
    shelves.add_chunk(shelves.add_version("refunds", "running"), 0, 0, TEXT)
    shelves.delete("returns")
    assert reader.get("/passages?cite=returns:1:0&cite=refunds:1:0")["passages"] == []


@pytest.mark.parametrize("query", ["", "cite=returns", "cite=returns:1:99999999999", "&".join(["cite=a:1:1"] * 21)])
def test_what_names_no_passage_is_refused(reader: Uploader, query: str) -> None:
    problem(reader.client.get(f"/passages?{query}"), 400, "invalid_request")


def test_who_may_not_ask_sees_no_passage(db: None) -> None:
    problem(Uploader("omar", "upload").client.get("/passages?cite=a:1:1"), 403, "forbidden")
