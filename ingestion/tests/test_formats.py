"""HTML, PDF and Word files through the whole product: checked at the door, converted by the worker, kept as text."""

from collections.abc import Callable

import pytest

from ingestion.models import DocumentVersion
from ingestion.pipeline.converting import running
from ingestion.pipeline.media_types import DOCX, HTML, PDF
from ingestion.tests.making import Uploader, depth, job, live_depth, make_ready, problem, work
from ingestion.tests.papers import Ink, docx, locked_pdf, paragraph, pdf, prose, table
from ingestion.tests.simulated import Simulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

FULL = "Goods may be returned to any store within thirty days if they are unused and in the box"
PAGE = "<title>Rücksendung</title><h1>Rückgabe</h1><p>Binnen dreißig Tagen.</p>"
FILES = {
    HTML: PAGE.encode(),
    PDF: pdf([[Ink(50, 760, "Returns", 20), *prose([FULL, FULL], top=720)]]),
    DOCX: docx(paragraph("Returns", style="H1") + paragraph(FULL) + table([["Country", "Days"], ["Spain", "14"]])),
}


@pytest.fixture
def omar(simulator: Simulator) -> Uploader:
    return Uploader("omar", "upload", "operate")


@pytest.mark.parametrize("media_type", [HTML, PDF, DOCX])
def test_a_file_is_published_with_its_text_its_chunks_and_its_own_bytes(omar: Uploader, media_type: str) -> None:
    omar.accepted(content=FILES[media_type], media_type=media_type)
    url = "/v1/documents/returns/versions/1"
    problem(omar.client.get(f"{url}/text"), 409, "conflict")
    work()
    found = omar.get(f"{url}?include=chunks")
    assert (found["state"], found["media_type"]) == ("published", media_type)
    text = omar.client.get(f"{url}/text").content.decode()
    assert text.startswith("# R")
    assert "".join(chunk["text"] for chunk in found["chunks"]) == text
    assert all(text[chunk["start"] : chunk["end"]] == chunk["text"] for chunk in found["chunks"])
    assert found["chunks"][0]["heading_path"] == [text.split("\n")[0].removeprefix("# ")]
    answer = omar.client.get(f"{url}/file")
    assert b"".join(answer.streaming_content) == FILES[media_type]
    assert answer["Content-Type"] == media_type
    assert depth() == (0, 0, 0)


@pytest.mark.parametrize("name,media_type", [("r.html", HTML), ("R.PDF", PDF), ("r.docx", DOCX)])
def test_a_form_without_a_type_goes_by_the_files_ending(omar: Uploader, name: str, media_type: str) -> None:
    answer = omar.send_file(content=FILES[media_type], name=name, media_type="application/octet-stream")
    assert answer.status_code == 202, answer.content
    assert DocumentVersion.objects.get().media_type == media_type


@pytest.mark.parametrize(
    "content,media_type,words",
    [
        (b"MZ\x90\x00 program", PDF, "begins with 0x4D 0x5A"),
        (FILES[PDF], DOCX, "begins with 0x25 0x50"),
        (FILES[PDF], HTML, "a PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 500, DOCX, "password"),
        (b"PK\x03\x04" + b"xl/workbook.xml", DOCX, "another ZIP archive"),
    ],
)
def test_a_file_of_another_kind_than_its_type_says_is_422(
    omar: Uploader, content: bytes, media_type: str, words: str
) -> None:
    found = problem(omar.upload(content=content, media_type=media_type), 422, "undecodable_text")
    assert words in found["detail"]


@pytest.mark.parametrize("media_type", [HTML, PDF, DOCX])
def test_an_empty_file_is_422(omar: Uploader, media_type: str) -> None:
    problem(omar.upload(content=b" \n", media_type=media_type), 422, "empty_document")


@pytest.mark.parametrize(
    "content,charset",
    [
        (PAGE.encode("utf-16"), None),
        (f'<?xml version="1.0" encoding="iso-8859-1"?>{PAGE}'.encode("latin-1"), None),
        (f"<meta http-equiv=x content='text/html; charset=windows-1252'>{PAGE}".encode("cp1252"), None),
        (f"<meta charset=koi8-r>{PAGE}".encode("cp1252"), "windows-1252"),
        (PAGE.encode("cp1252"), None),
    ],
)
def test_a_pages_encoding_comes_from_mark_request_declaration_or_detection(
    omar: Uploader, content: bytes, charset: str | None
) -> None:
    header = {"Content-Type": f"text/html; charset={charset}"} if charset else {}
    accepted = omar.accepted(content=content, media_type="text/html", headers=header)
    assert accepted["document"]["title"] == "Rücksendung"
    work()
    text = omar.client.get("/v1/documents/returns/versions/1/text").content.decode()
    assert text == "# Rückgabe\n\nBinnen dreißig Tagen.\n"


def test_a_page_in_no_encoding_is_422_and_names_what_it_declares(omar: Uploader) -> None:
    found = problem(omar.upload(content=b"<meta charset=koi9>\xe9\x81", media_type=HTML), 422, "undecodable_text")
    assert "'koi9'" in found["detail"]


@pytest.mark.parametrize(
    "content,media_type,code,words",
    [
        (pdf([[], []], picture=True), PDF, "empty_document", "holds pictures of pages and no text"),
        (locked_pdf(), PDF, "unconvertible", "locked with a password"),
        (docx(paragraph("")), DOCX, "empty_document", "no text"),
        (b"<script>only()</script>", HTML, "empty_document", "shows no text"),
    ],
)
def test_a_file_without_text_fails_with_a_reason_and_never_replaces_the_good_version(
    omar: Uploader, content: bytes, media_type: str, code: str, words: str
) -> None:
    omar.accepted()
    work()
    bad = omar.accepted(content=content, media_type=media_type)
    work()
    found = omar.get(bad["job"]["url"])
    assert (found["state"], found["attempt"], found["error"]["code"]) == ("failed", 1, code)
    assert words in found["error"]["detail"]
    assert omar.get("/v1/documents/returns")["published"]["number"] == 1
    assert omar.get(bad["version"]["url"])["state"] == "failed"
    assert (depth(), found["provider_calls"]) == ((0, 0, 0), 0)


def test_the_text_is_made_once_and_a_retry_keeps_it(omar: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = omar.accepted(content=FILES[HTML], media_type=HTML)
    calls = 0
    real = running.convert

    def counted(content: bytes, media_type: str, is_wanted: Callable[[], bool]) -> str:
        nonlocal calls
        calls += 1
        return real(content, media_type, is_wanted)

    monkeypatch.setattr(running, "convert", counted)
    monkeypatch.setattr("ingestion.pipeline.summarizing.ensure_summary", lambda *_: 1 / 0)
    work()
    monkeypatch.undo()
    monkeypatch.setattr(running, "convert", counted)
    job_id = accepted["job"]["id"]
    make_ready(job_id)
    work()
    assert (job(job_id).state, job(job_id).attempt, calls) == ("succeeded", 2, 1)


def test_the_estimated_units_of_a_file_count_in_the_bound_and_leave_it_exactly(omar: Uploader) -> None:
    for number, media_type in enumerate((HTML, PDF, DOCX)):
        omar.accepted(slug=f"d-{number}", content=FILES[media_type], media_type=media_type)
    assert depth() == live_depth()
    assert depth()[2] == sum(map(len, FILES.values()))
    work()
    assert depth() == (0, 0, 0)
