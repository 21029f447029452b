"""An upload is answered 202 with all that the contract names, and its version, file and job are there."""

import hashlib
from pathlib import Path

import pytest

from ingestion.models import Document, DocumentVersion, Job
from ingestion.tests.making import MARKDOWN, TEXT, Uploader, body, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]


@pytest.fixture
def omar() -> Uploader:
    return Uploader()


def test_the_answer_names_document_version_job_and_estimate(omar: Uploader) -> None:
    response = omar.upload("returns", TEXT)
    found = body(response, 202)
    job_id = str(Job.objects.get().id)
    estimate = found.pop("estimate")
    assert found == {
        "document": {"slug": "returns", "title": "Returns", "url": "/v1/documents/returns"},
        "version": {
            "number": 1,
            "state": "pending",
            "sha256": hashlib.sha256(TEXT).hexdigest(),
            "bytes": len(TEXT),
            "url": "/v1/documents/returns/versions/1",
        },
        "job": {"id": job_id, "state": "queued", "url": f"/v1/jobs/{job_id}"},
    }
    assert response["Location"] == f"/v1/jobs/{job_id}"
    assert "Idempotent-Replayed" not in response
    assert estimate["low_seconds"] <= estimate["wait_seconds"] <= estimate["high_seconds"]
    assert estimate["basis"] == "assumed"


def test_the_stored_file_is_the_bytes_as_uploaded(omar: Uploader, files: Path) -> None:
    omar.accepted("returns", TEXT)
    version = DocumentVersion.objects.get()
    assert (files / version.storage_key).read_bytes() == TEXT
    assert version.sha256 == hashlib.sha256(TEXT).hexdigest()


def test_a_file_name_is_a_label_and_never_a_place(omar: Uploader, files: Path) -> None:
    body(omar.send_file(name="../../etc/\u202epasswd" + "x" * 300 + ".md"), 202)
    version = DocumentVersion.objects.get()
    assert "passwd" not in version.storage_key
    assert len(version.file_name) <= 255
    assert [path for path in files.rglob("*") if path.is_file()] == [files / version.storage_key]


def test_numbers_count_up_for_each_document(omar: Uploader) -> None:
    numbers = [omar.accepted(slug)["version"]["number"] for slug in ("returns", "returns", "refunds", "returns")]
    assert numbers == [1, 2, 1, 3]


def test_the_job_is_read_by_its_owner_with_all_its_fields(omar: Uploader) -> None:
    accepted = omar.accepted()
    found = omar.get(accepted["job"]["url"])
    assert {
        "id": accepted["job"]["id"], "queue": "documents", "kind": "ingest_version", "state": "queued", "attempt": 0,
        "max_attempts": 5, "generation": 0, "progress": {"done": 0, "total": 0, "unit": "chunks"}, "waiting_for": None,
        "started_at": None, "finished_at": None, "error": None, "subject": {"document": "returns", "version": 1},
        "provider_calls": 0, "cost_usd": "0.000000",
    }.items() <= found.items()  # fmt: skip
    assert found["ready_at"].endswith("Z")
    assert found["queued_at"].endswith("Z")
    assert found["estimate"]["basis"] == "assumed"


# --- titles ---------------------------------------------------------------------------------------------------------


def test_a_named_title_goes_before_the_one_in_the_text(omar: Uploader) -> None:
    assert body(omar.send_file(title="  How to return  "), 202)["document"]["title"] == "How to return"


def test_without_any_title_the_slug_gives_it(omar: Uploader) -> None:
    assert omar.accepted("gift-cards", b"No heading here.")["document"]["title"] == "Gift cards"


def test_a_later_version_without_a_title_keeps_the_documents(omar: Uploader) -> None:
    body(omar.send_file(title="How to return"), 202)
    omar.accepted("returns", b"# Another heading\n\nText.\n")
    assert list(DocumentVersion.objects.order_by("number").values_list("title", flat=True)) == ["How to return"] * 2


def test_a_new_title_waits_for_its_version_to_be_published(omar: Uploader) -> None:
    omar.accepted()
    body(omar.send_file(title="How to return"), 202)
    assert Document.objects.get().title == "Returns"


def test_a_title_of_two_hundred_characters_is_taken_and_one_more_is_not(omar: Uploader) -> None:
    body(omar.send_file(title="t" * 200), 202)
    problem(omar.send_file(title="t" * 201), 400, "invalid_request")


def test_a_heading_longer_than_a_title_may_be_is_cut(omar: Uploader) -> None:
    title = omar.accepted("long", b"# " + b"long " * 100 + b"\n\nText.\n")["document"]["title"]
    assert len(title) <= 200


# --- If-Match -------------------------------------------------------------------------------------------------------


def test_if_match_with_the_latest_number_is_accepted(omar: Uploader) -> None:
    omar.accepted()
    assert omar.accepted(headers={"If-Match": '"1"'})["version"]["number"] == 2


@pytest.mark.parametrize("known", ['"1"', '"3"', '"0"'])
def test_if_match_with_another_number_is_412_and_saves_nothing(omar: Uploader, known: str) -> None:
    omar.accepted()
    omar.accepted()
    problem(omar.upload(headers={"If-Match": known}), 412, "precondition_failed")
    assert Document.objects.get().latest_number == DocumentVersion.objects.count() == 2


def test_if_match_on_a_document_that_is_not_there_is_412(omar: Uploader) -> None:
    problem(omar.upload("returns", headers={"If-Match": '"1"'}), 412, "precondition_failed")
    assert not Document.objects.exists()


@pytest.mark.parametrize("header", ["1", '"x"', "*", 'W/"1"', '"1", "2"', '""', '"-1"', '"' + "9" * 10 + '"'])
def test_a_malformed_if_match_is_400(omar: Uploader, header: str) -> None:
    problem(omar.upload(headers={"If-Match": header}), 400, "invalid_request")


# --- slugs, rights and methods --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["Returns", "re_turns", "r%20s", "ü", "r.md", "a" * 101, "returns%0A"])
def test_a_slug_of_other_characters_or_over_a_hundred_is_400(omar: Uploader, slug: str) -> None:
    problem(omar.upload(slug), 400, "invalid_request")
    assert not Document.objects.exists()


@pytest.mark.parametrize("slug", ["a", "0", "a-1", "a" * 100, "-"])
def test_a_slug_of_one_to_a_hundred_allowed_characters_is_taken(omar: Uploader, slug: str) -> None:
    omar.accepted(slug)


@pytest.mark.parametrize("header", [None, "Bearer nobody", "Basic b21hcjpvbWFy", "Bearer", "Bearer " + "x" * 300])
def test_without_a_valid_token_it_is_401_with_a_challenge(omar: Uploader, header: str | None) -> None:
    omar.client.defaults.pop("HTTP_AUTHORIZATION")
    response = omar.client.post(
        "/v1/documents/returns/versions", TEXT, content_type=MARKDOWN,
        headers={} if header is None else {"Authorization": header},
    )  # fmt: skip
    problem(response, 401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_caller_that_was_switched_off_is_401(omar: Uploader) -> None:
    omar.caller.is_active = False
    omar.caller.save()
    problem(omar.upload(), 401, "unauthenticated")


def test_without_the_right_it_is_403_and_nothing_is_read(omar: Uploader) -> None:
    problem(Uploader("mei", "ask").upload("Not-A-Slug", b""), 403, "forbidden")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("put", "/v1/documents/returns/versions"),
        ("delete", "/v1/documents/returns/versions"),
        ("post", "/v1/documents/returns"),
        ("post", "/v1/documents"),
        ("post", "/v1/queue"),
    ],
)
def test_a_method_that_a_route_has_not_is_a_405_problem(omar: Uploader, method: str, path: str) -> None:
    response = getattr(omar.client, method)(path)
    problem(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/", "/v1/jobs/1", "/v1/documents/returns/versions/one"])
def test_an_unknown_route_is_a_404_problem(omar: Uploader, path: str) -> None:
    problem(omar.client.get(path), 404, "not_found")


def test_every_upload_caller_may_add_a_version_and_sees_only_its_own_job(omar: Uploader) -> None:
    theirs = omar.accepted()
    mei, operator = Uploader("mei"), Uploader("kwame", "operate")
    assert mei.accepted()["version"]["number"] == 2
    problem(mei.client.get(theirs["job"]["url"]), 404, "not_found")
    assert operator.get(theirs["job"]["url"])["state"] == "queued"
