"""What every request passes: an id that follows it into jobs and provider calls, the page policy, an unread body."""

import re
import secrets
from collections.abc import Callable

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, HttpResponse

from larkfield.logs import request_id

_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Pages load only their own scripts, styles and images; nothing inline, nothing framed.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

GetResponse = Callable[[HttpRequest], HttpResponse]


class RequestIdMiddleware:
    """Takes the caller's X-Request-Id or makes one; the answer and every log line of the request carry it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        identity = given if _VALID_ID.fullmatch(given) else secrets.token_hex(8)
        request.larkfield_request_id = identity  # type: ignore[attr-defined]  # read by admission
        token = request_id.set(identity)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response.headers["X-Request-Id"] = identity
        return response


class ContentSecurityPolicyMiddleware:
    """Sets the strict policy on every answer that has none of its own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response


class UnreadBodyMiddleware:
    """An answer that comes before the body was read says that the connection ends.

    The server drops what is unread together with the connection; a client that was not told would send its next
    request into it and lose it. Reading the rest instead would let a slow sender hold a thread for a refusal.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # The server of Python's own library ends each connection by itself and lets no application say so.
        if _has_unread_body(request) and not request.META.get("SERVER_SOFTWARE", "").startswith("WSGIServer"):
            response.headers["Connection"] = "close"
        return response


def _has_unread_body(request: HttpRequest) -> bool:
    stream = getattr(request, "_stream", None)
    # Nothing public tells how far the body was read.
    is_cut_short = isinstance(stream, LimitedStream) and stream._pos < stream.limit  # type: ignore[attr-defined]
    # Django reads no body that comes in chunks.
    return is_cut_short or "Transfer-Encoding" in request.headers
