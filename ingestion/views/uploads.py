"""POST /v1/documents/{slug}/versions: an upload is checked, admitted and answered 202."""

import hashlib
import re
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import admission, idempotency, requests
from ingestion.admission import Upload
from ingestion.authentication import caller_of
from ingestion.naming import is_slug
from ingestion.parsers import RawParser
from ingestion.pipeline.door import look_at
from ingestion.pipeline.media_types import media_type_of
from ingestion.pipeline.reading_errors import EmptyDocument, ReadingError, UnsupportedType
from ingestion.problems import Problem
from ingestion.queue.storable import storable
from ingestion.views.documents import CURSOR_QUERY, INCLUDE_QUERY, SLUG_PATH, list_versions
from ingestion.views.schema import Example, described, header
from ingestion.views.schema import documents as answers
from ingestion.views.schema.pieces import IDEMPOTENCY_KEY, IF_MATCH, LOCATION, REPLAYED

# What multipart adds to the file: boundaries, headers, the title.
MULTIPART_OVERHEAD_BYTES = 65_536
TITLE_MAX = 200
FILE_NAME_MAX = 255
_IF_MATCH = re.compile(r'"(\d{1,9})"')


@dataclass(frozen=True)
class Body:
    """What the request carries: the file's bytes, its declared type and name, and a title."""

    content: bytes
    content_type: str | None
    file_name: str
    title: str | None


class VersionList(APIView):
    required_rights = {"POST": "upload"}
    parser_classes = [RawParser]

    @described(
        "list_versions", {200: answers.VersionPage}, "not_found", parameters=[SLUG_PATH, CURSOR_QUERY, INCLUDE_QUERY]
    )
    def get(self, request: Request, slug: str) -> Response:
        return list_versions(request, slug)

    @described(
        "upload_version",
        {202: answers.UploadedSerializer},
        *("forbidden", "invalid_idempotency_key", "precondition_failed", "too_large", "unsupported_type"),
        *("idempotency_key_reused", "empty_document", "undecodable_text", "rate_limited", "queue_full", "draining"),
        request=answers.UPLOAD_BODIES,
        parameters=[
            SLUG_PATH,
            header("Idempotency-Key", IDEMPOTENCY_KEY, "names this request for 24 hours"),
            header("If-Match", IF_MATCH, "the latest version number that the caller knows, in quotes"),
            *(LOCATION, REPLAYED),
        ],
        examples=[
            Example("Markdown", answers.UPLOAD_TEXT, media_type="text/markdown"),
            Example("Accepted", answers.UPLOADED, 202),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        if not is_slug(slug):
            raise Problem("invalid_request", "A slug has 1 to 100 lower-case letters (a to z), digits and hyphens.")
        key = idempotency.read_key(request.headers.get("Idempotency-Key"))
        if_match = read_if_match(request.headers.get("If-Match"))
        django_request: HttpRequest = request._request
        is_multipart = django_request.content_type == "multipart/form-data"
        requests.check_length(request, settings.UPLOAD_MAX_BYTES + MULTIPART_OVERHEAD_BYTES * is_multipart)
        if not is_multipart:
            _media_type(request.headers.get("Content-Type"), "")
        admission.refuse_early(caller_of(request), "documents", key)
        upload = _upload(request, slug, key, if_match, _multipart(request) if is_multipart else _raw(request))
        admitted = admission.admit_upload(caller_of(request), upload)
        headers = {"Location": f"/v1/jobs/{admitted.job_id}"}
        if admitted.is_replay:
            headers["Idempotent-Replayed"] = "true"
        return Response(admitted.answer, status=202, headers=headers)


def read_if_match(header: str | None) -> int | None:
    """The number of an If-Match header, which is a quoted number. Raises Problem 400 for anything else."""
    if header is None:
        return None
    found = _IF_MATCH.fullmatch(header.strip())
    if not found:
        raise Problem("invalid_request", 'If-Match is a version number in quotes, like "3".')
    return int(found[1])


def _raw(request: Request) -> Body:
    content = requests.read_body(request, settings.UPLOAD_MAX_BYTES)
    return Body(content, request.headers.get("Content-Type"), "", None)


def _multipart(request: Request) -> Body:
    """The parts `file` and `title`. Raises Problem 400 for a malformed body or a missing file."""
    fields, files = requests.read_multipart(request)
    parts = files.getlist("file")
    if len(parts) != 1:
        raise Problem("invalid_request", "Send exactly one part named 'file' with a file name.")
    file = parts[0]
    if (file.size or 0) > settings.UPLOAD_MAX_BYTES:
        raise too_large()
    content_type = file.content_type or ""
    if file.content_type_extra and "charset" in file.content_type_extra:
        charset = file.content_type_extra["charset"]
        content_type += f"; charset={charset.decode('latin-1') if isinstance(charset, bytes) else charset}"
    return Body(file.read(), content_type or None, file.name or "", fields.get("title"))


def too_large() -> Problem:
    return Problem("too_large", f"A file may have at most {settings.UPLOAD_MAX_BYTES} bytes.")


def _title(given: str | None) -> str | None:
    title = storable(given or "").strip()
    if len(title) > TITLE_MAX:
        raise Problem("invalid_request", f"A title has at most {TITLE_MAX} characters.")
    return title or None


def _media_type(content_type: str | None, file_name: str) -> tuple[str, str | None]:
    try:
        return media_type_of(content_type, file_name or None)
    except UnsupportedType as error:
        raise Problem("unsupported_type", error.detail) from None


def _upload(request: Request, slug: str, key: str | None, if_match: int | None, body: Body) -> Upload:
    media_type, charset = _media_type(body.content_type, body.file_name)
    title = _title(body.title)
    try:
        found = look_at(body.content, media_type=media_type, charset=charset)
    except ReadingError as error:
        code = "empty_document" if isinstance(error, EmptyDocument) else "undecodable_text"
        raise Problem(code, error.detail) from None
    name = storable(body.file_name, FILE_NAME_MAX)
    digest = hashlib.sha256(body.content).hexdigest()
    return Upload(
        slug=slug, title=title, content=body.content, characters=found.characters, found_title=found.title,
        media_type=media_type, charset=charset, file_name=name, if_match=if_match, key=key,
        fingerprint=idempotency.fingerprint(
            "POST", request.path, media_type, charset, digest, title, name, None if if_match is None else str(if_match)
        ),
        request_id=requests.identity(request),
    )  # fmt: skip
