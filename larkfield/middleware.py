"""What every request passes: an id that follows it into jobs and provider calls, and the page policy."""

import re
import secrets
from collections.abc import Callable

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
