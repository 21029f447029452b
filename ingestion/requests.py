"""Reading a request's body within a bound."""

from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.datastructures import MultiValueDict
from rest_framework.request import Request

from ingestion.problems import Problem


def too_large(most: int) -> Problem:
    return Problem("too_large", f"The body may have at most {most} bytes.")


def _own(request: Request | HttpRequest) -> HttpRequest:
    """Django's request, also inside the API framework's."""
    return request._request if isinstance(request, Request) else request


def check_length(request: Request | HttpRequest, most: int) -> None:
    """Refuses by the declared length, before anything is read."""
    if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
        raise Problem("invalid_request", "Send the body with a Content-Length, not in chunks.")
    declared = request.headers.get("Content-Length") or "0"
    if not declared.isascii() or not declared.isdigit():
        raise Problem("invalid_request", "Content-Length is not a number.")
    if len(declared) > 18 or int(declared) > most:
        raise too_large(most)


def read_body(request: Request | HttpRequest, most: int) -> bytes:
    """The whole body, at most `most` bytes."""
    check_length(request, most)
    django_request = _own(request)
    try:
        body = django_request.read(most + 1)
    except (UnreadablePostError, RawPostDataException):
        raise Problem("invalid_request", "The body broke off; send it again.") from None
    declared = int(request.headers.get("Content-Length") or "0")
    if len(body) > most:
        raise too_large(most)
    if len(body) < declared:
        raise Problem("invalid_request", "The body is shorter than its Content-Length; send it again.")
    return body


def read_multipart(request: Request) -> tuple[QueryDict, "MultiValueDict[str, UploadedFile[Any]]"]:
    """The fields and files of a multipart body. Raises Problem 400 where it is malformed."""
    django_request: HttpRequest = request._request
    try:
        return django_request.POST, django_request.FILES
    except RequestDataTooBig:
        raise Problem("too_large", "The fields beside the file are too large.") from None
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError, ValueError) as error:
        raise Problem("invalid_request", f"The multipart body can't be read: {error}") from None


def identity(request: Request | HttpRequest) -> str:
    """The request's id, as its middleware set it."""
    return str(getattr(_own(request), "larkfield_request_id", ""))
