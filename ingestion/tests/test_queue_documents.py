"""Documents, versions, texts, files and news as readers see them while versions come, wait, and are deleted."""

import re
from itertools import pairwise
from typing import Any

import pytest

from ingestion.models import Chunk, Document, DocumentVersion, Job
from ingestion.queue import settling
from ingestion.queue.outcomes import ClaimLost
from ingestion.tests.making import TEXT, Uploader, body, claim_one, depth, job, live_depth, problem, run, work
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files", "simulator")]

LONG = (
    b"\xef\xbb\xbf---\r\ntitle: Returns\r\n---\r\n# Returns\r\n\r\n"
    + b"".join(
        f"## Part {number}\r\n\r\n".encode() + "Goods – caf\u00e9 \U0001f600 – go back. ".encode() * 60 + b"\r\n\r\n"
        for number in range(8)
    )
    + b"A\x00NUL and a \x07bell.\r\n"
)


@pytest.fixture
def omar() -> Uploader:
    return Uploader("omar", "upload", "operate")


def test_a_reader_sees_the_published_version_and_the_one_that_waits(omar: Uploader) -> None:
    accepted = omar.accepted()
    before = omar.get("/v1/documents/returns")
    assert before["published"] is None
    assert before["pending"]["number"] == 1
    assert before["pending"]["job"] == accepted["job"]
    work()
    omar.accepted(content=TEXT + b"\nAnd more.\n")
    found = omar.get("/v1/documents/returns")
    assert (found["slug"], found["title"]) == ("returns", "Returns")
    assert found["published"]["number"] == 1
    assert found["published"]["summary"]
    assert found["published"]["published_at"].endswith("Z")
    assert found["pending"]["number"] == 2
    assert found["pending"]["estimate"]["basis"] in ("assumed", "measured")


def test_a_version_goes_from_pending_to_published_to_superseded(omar: Uploader) -> None:
    omar.accepted()
    assert omar.get("/v1/documents/returns/versions/1")["state"] == "pending"
    work()
    published = omar.get("/v1/documents/returns/versions/1")
    assert published["state"] == "published"
    assert published["chunk_count"] == 1
    assert published["summary"]
    assert re.fullmatch(r"\d+\.\d{6,}", published["cost_usd"])
    assert float(published["cost_usd"]) > 0
    omar.accepted(content=TEXT + b"\nAnd more.\n")
    work()
    assert [row["state"] for row in omar.get("/v1/documents/returns/versions")["results"]] == [
        "published", "superseded",
    ]  # fmt: skip


def test_the_text_is_normalised_and_the_chunks_are_its_exact_slices_without_gap_or_overlap(omar: Uploader) -> None:
    omar.accepted(content=LONG)
    work()
    response = omar.client.get("/v1/documents/returns/versions/1/text")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    text = response.content.decode()
    assert not {"\r", "\x00", "\x07", "\ufeff"} & set(text)
    found = omar.get("/v1/documents/returns/versions/1?include=chunks")
    chunks = found["chunks"]
    assert [chunk["position"] for chunk in chunks] == list(range(found["chunk_count"]))
    assert len(chunks) > 3
    assert all(chunk["text"] == text[chunk["start"] : chunk["end"]] for chunk in chunks)
    assert all(before["end"] == after["start"] for before, after in pairwise(chunks))
    assert chunks[0]["start"] <= text.index("# Returns")
    assert chunks[-1]["end"] == len(text)
    assert text[: chunks[0]["start"]].strip().strip("-").strip() in ("", "title: Returns\n---", "title: Returns")


def test_a_text_that_was_not_read_yet_is_a_409(omar: Uploader) -> None:
    omar.accepted()
    problem(omar.client.get("/v1/documents/returns/versions/1/text"), 409, "conflict")


def test_the_file_comes_back_as_it_was_uploaded(omar: Uploader) -> None:
    omar.send_file(content=LONG, name="Rückgabe \u202e.md")
    response = omar.client.get("/v1/documents/returns/versions/1/file")
    assert b"".join(response.streaming_content) == LONG
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_document_or_version_that_is_not_there_is_404(omar: Uploader) -> None:
    omar.accepted()
    for path in ("nothing", "nothing/versions", "returns/versions/1/nothing", "returns/versions/2",
                 "returns/versions/0",
                 f"returns/versions/{2**40}", f"returns/versions/{10**30}/text", "%00", "a%00/versions"):  # fmt: skip
        problem(omar.client.get(f"/v1/documents/{path}"), 404, "not_found")
    problem(omar.client.delete("/v1/documents/%00"), 404, "not_found")


@pytest.mark.parametrize("accept", ["text/plain", "application/problem+json", "nonsense", ""])
def test_an_accept_header_that_names_nothing_of_ours_is_passed_over(omar: Uploader, accept: str) -> None:
    url = body(omar.upload(headers={"Accept": accept}), 202)["version"]["url"]
    work()
    for path in (url, url + "/text", url + "/file"):
        assert omar.client.get(path, headers={"Accept": accept}).status_code == 200
    problem(omar.client.get("/v1/documents/nothing", headers={"Accept": accept}), 404, "not_found")


def test_any_valid_token_may_read(omar: Uploader) -> None:
    omar.accepted()
    mei = Uploader("mei", "ask")
    for path in ("documents", "documents/returns", "documents/returns/versions", "news", "queue"):
        mei.get(f"/v1/{path}")


# --- pages ----------------------------------------------------------------------------------------------------------


def pages(omar: Uploader, path: str) -> list[list[Any]]:
    found, url = [], path
    while url:
        answer = omar.get(url)
        found.append(answer["results"])
        url = answer["next"]
    return found


def test_versions_are_listed_newest_first_page_by_page(omar: Uploader) -> None:
    omar.accepted()
    document = Document.objects.get()
    for number in range(2, 121):
        made = Job.objects.create(
            queue="documents", kind="ingest_version", state="failed", caller=omar.caller, max_attempts=5, units=1,
            bytes=1, finished_at=document.created_at,
        )  # fmt: skip
        DocumentVersion.objects.create(
            document=document, number=number, job=made, title="t", sha256="0" * 64, bytes=1, media_type="text/plain",
            storage_key=f"k{number}",
        )  # fmt: skip
    found = pages(omar, "/v1/documents/returns/versions")
    assert [len(page) for page in found] == [50, 50, 20]
    assert [row["number"] for page in found for row in page] == list(range(120, 0, -1))


def test_documents_are_listed_page_by_page_and_found_by_a_word(omar: Uploader) -> None:
    Document.objects.bulk_create(Document(slug=f"d-{number:03}", title=f"Title {number}") for number in range(101))
    found = pages(omar, "/v1/documents")
    assert [len(page) for page in found] == [50, 50, 1]
    assert [row["slug"] for page in found for row in page] == [f"d-{number:03}" for number in range(101)]
    assert [row["slug"] for row in omar.get("/v1/documents?q=title%20100")["results"]] == ["d-100"]
    assert omar.get("/v1/documents?q=%25")["results"] == []


@pytest.mark.parametrize(
    "cursor", ["x", "bnVsbA", "WzFd", "MQ", "%00", "eyJhIjoxfQ", "é" * 10, "W" * 4000, "Ilx1ZDgwMCI"]
)
def test_a_cursor_that_no_list_gave_is_400(omar: Uploader, cursor: str) -> None:
    problem(omar.client.get("/v1/documents", {"cursor": cursor}), 400, "invalid_request")


def test_news_are_the_published_versions_newest_first(omar: Uploader) -> None:
    for slug in ("a", "b", "c"):
        omar.accepted(slug, f"# {slug}\n\nText of {slug}.\n".encode())
        work()
    omar.accepted("a", b"# a\n\nAnother text.\n")
    work()
    omar.accepted("d")
    news = omar.get("/v1/news")["results"]
    assert [(row["document"], row["version"]) for row in news] == [("a", 2), ("c", 1), ("b", 1)]
    assert all(row["summary"] and row["published_at"] for row in news)


# --- deletion -------------------------------------------------------------------------------------------------------


def delete(omar: Uploader, slug: str = "returns") -> None:
    assert omar.client.delete(f"/v1/documents/{slug}").status_code == 204


def test_a_deleted_document_is_gone_and_nothing_of_it_is_searchable(omar: Uploader) -> None:
    omar.accepted()
    work()
    delete(omar)
    for path in ("", "/versions", "/versions/1", "/versions/1/text", "/versions/1/file"):
        problem(omar.client.get(f"/v1/documents/returns{path}"), 404, "not_found")
    problem(omar.client.delete("/v1/documents/returns"), 404, "not_found")
    assert omar.get("/v1/documents")["results"] == omar.get("/v1/news")["results"] == []
    assert not Chunk.objects.filter(is_searchable=True).exists()


def test_its_queued_and_running_jobs_are_cancelled_and_their_places_free(omar: Uploader) -> None:
    running, queued = omar.accepted(), omar.accepted()
    found = claim_one()
    other = omar.accepted("refunds")
    delete(omar)
    for accepted in (running, queued):
        assert omar.get(accepted["job"]["url"])["state"] == "cancelled"
    assert job(other["job"]["id"]).state == "queued"
    assert depth() == live_depth()
    with pytest.raises(ClaimLost):
        settling.finish(found, "succeeded")


def test_a_document_deleted_while_its_job_runs_is_never_published(omar: Uploader, simulator: Simulator) -> None:
    omar.accepted()
    found = claim_one()
    delete(omar)
    assert run(found) is False
    assert not Chunk.objects.filter(is_searchable=True).exists()
    assert job(found.id).state == "cancelled"
    assert simulator.ledger()["totals"]["calls"] == 0


def test_version_numbers_never_restart_when_the_slug_is_used_again(omar: Uploader) -> None:
    omar.accepted()
    omar.accepted()
    work()
    delete(omar)
    accepted = omar.accepted(content=b"# New rules\n\nOther text.\n")
    assert accepted["version"]["number"] == 3
    assert accepted["document"]["title"] == "New rules"
    assert omar.get("/v1/documents/returns")["published"] is None
    work()
    assert omar.get("/v1/documents/returns")["published"]["number"] == 3


def test_what_was_deleted_stays_gone_when_the_slug_is_used_again(omar: Uploader) -> None:
    omar.accepted()
    work()
    delete(omar)
    omar.accepted(content=b"# New rules\n\nOther text.\n")
    for path in ("/versions/1", "/versions/1/text", "/versions/1/file"):
        problem(omar.client.get(f"/v1/documents/returns{path}"), 404, "not_found")
    assert [row["number"] for row in omar.get("/v1/documents/returns/versions")["results"]] == [2]


def test_if_match_after_a_deletion_knows_no_version(omar: Uploader) -> None:
    omar.accepted()
    delete(omar)
    problem(omar.upload(headers={"If-Match": '"1"'}), 412, "precondition_failed")
    assert omar.accepted(headers={"If-Match": '"0"'})["version"]["number"] == 2
