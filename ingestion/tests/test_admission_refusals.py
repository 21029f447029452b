"""A refused upload leaves no row, no file, no key and no spent token, and can be sent again with the same key."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from ingestion.models import Document, DocumentVersion, IdempotencyKey, Job, JobOutcome
from ingestion.tests.making import MARKDOWN, TEXT, Uploader, depth, problem, tokens_used

pytestmark = pytest.mark.django_db


@pytest.fixture
def omar(files: Path) -> Uploader:
    return Uploader()


def assert_nothing_was_left(omar: Uploader, files: Path) -> None:
    for model in (Document, DocumentVersion, Job, JobOutcome, IdempotencyKey):
        assert not model.objects.exists(), model
    assert depth() == (0, 0, 0)
    assert [path for path in files.rglob("*") if path.is_file()] == []
    assert tokens_used(omar.caller) == 0


def test_every_refusal_of_the_request_itself_leaves_nothing(omar: Uploader, files: Path, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    refusals = [
        (omar.upload("No Slug", key="k"), 400, "invalid_request"),
        (omar.upload(key="k" * 256), 400, "invalid_idempotency_key"),
        (omar.upload(key="k", headers={"If-Match": "1"}), 400, "invalid_request"),
        (omar.upload(key="k", headers={"If-Match": '"1"'}), 412, "precondition_failed"),
        (omar.upload(content=b"x" * 1001, key="k"), 413, "too_large"),
        (omar.send_file(content=b"x" * 1001, key="k"), 413, "too_large"),
        (omar.upload(media_type="application/msword", key="k"), 415, "unsupported_type"),
        (omar.upload(media_type="application/pdf", key="k"), 422, "undecodable_text"),
        (omar.upload(media_type="text/html", content=b"", key="k"), 422, "empty_document"),
        (omar.send_file(media_type="image/png", name="r.png", key="k"), 415, "unsupported_type"),
        (omar.upload(content=b"", key="k"), 422, "empty_document"),
        (omar.upload(content=b" \n\t\n", key="k"), 422, "empty_document"),
        (omar.upload(content=b"---\ntitle: Returns\n---\n", key="k"), 422, "empty_document"),
        (omar.send_file(title="t" * 201, key="k"), 400, "invalid_request"),
    ]
    for response, status, code in refusals:
        problem(response, status, code)
    assert_nothing_was_left(omar, files)
    assert omar.upload(key="k").status_code == 202
    assert tokens_used(omar.caller) == 1


def test_text_in_no_encoding_is_422_and_names_the_encoding(omar: Uploader, files: Path) -> None:
    found = problem(
        omar.upload(content=b"caf\xff\xfe\x81\x8d", media_type="text/plain; charset=utf-8"), 422, "undecodable_text"
    )
    assert "utf-8" in found["detail"].lower()
    assert_nothing_was_left(omar, files)


def _form(omar: Uploader, body: bytes, content_type: str) -> Any:
    return omar.client.post(
        "/v1/documents/returns/versions", body, content_type=content_type, headers={"Content-Type": content_type}
    )


def test_a_malformed_form_is_400(omar: Uploader, files: Path) -> None:
    for body, content_type in (
        (b"--b\r\nnonsense", "multipart/form-data"),
        (b"", "multipart/form-data; boundary=b"),
        (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nno file name\r\n--b--\r\n',
         "multipart/form-data; boundary=b"),
    ):  # fmt: skip
        problem(_form(omar, body, content_type), 400, "invalid_request")
    two = [SimpleUploadedFile(f"{number}.md", TEXT, content_type=MARKDOWN) for number in (1, 2)]
    problem(omar.client.post("/v1/documents/returns/versions", {"file": two}), 400, "invalid_request")
    assert_nothing_was_left(omar, files)


def test_a_body_longer_than_allowed_is_refused_by_its_length_before_it_is_read(omar: Uploader, files: Path) -> None:
    response = omar.client.generic(
        "POST", "/v1/documents/returns/versions", b"", content_type=MARKDOWN, CONTENT_LENGTH="999999999999"
    )
    problem(response, 413, "too_large")


@pytest.mark.parametrize("length", ["-1", "ten", "1e3", "9" * 30])
def test_a_length_that_is_no_number_or_beyond_reason_is_refused(omar: Uploader, length: str) -> None:
    response = omar.client.generic(
        "POST", "/v1/documents/returns/versions", TEXT, content_type=MARKDOWN, CONTENT_LENGTH=length
    )
    assert response.status_code in (400, 413)


def test_a_document_that_no_empty_queue_could_hold_is_too_large_and_not_too_early(
    omar: Uploader, files: Path, settings: Settings
) -> None:
    settings.DOCUMENTS_QUEUE_MAX_UNITS = 100
    problem(omar.upload(content=b"word " * 400, key="k"), 413, "too_large")
    assert_nothing_was_left(omar, files)


def test_a_refusal_before_the_body_is_read_ends_the_connection_and_says_so(settings: Settings) -> None:
    omar = Uploader()
    settings.UPLOAD_MAX_BYTES = 100
    for refused in (omar.upload("Bad"), omar.upload(content=b"x" * 101), omar.upload(media_type="image/png")):
        assert refused["Connection"] == "close"
    assert "Connection" not in omar.upload()
    assert "Connection" not in omar.send_file()
    assert "Connection" not in omar.upload(content=b" ")


def test_a_fault_of_ours_in_the_middle_leaves_no_file_and_no_token(
    omar: Uploader, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> int:
        raise RuntimeError("the disk of the secrets is full")

    monkeypatch.setattr("ingestion.queue.controlling.take_place", break_down)
    found = problem(omar.upload(key="k"), 500, "internal_error")
    assert "secrets" not in str(found)
    assert_nothing_was_left(omar, files)


def test_a_caller_without_the_right_to_operate_deletes_nothing(omar: Uploader) -> None:
    omar.accepted()
    problem(omar.client.delete("/v1/documents/returns"), 403, "forbidden")
    assert omar.get("/v1/documents/returns")["pending"]["number"] == 1
