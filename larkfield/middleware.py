"""What every request passes: an id that follows it into jobs and provider calls, the page policy, an unread body."""

import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, HttpResponse

from ingestion import traces
from ingestion.problems import MEDIA_TYPE
from larkfield import refusals

log = logging.getLogger("larkfield.requests")

_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TRACE_PARENT = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
# Pages load only their own scripts, styles and images; nothing inline, nothing framed.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

GetResponse = Callable[[HttpRequest], HttpResponse]


class RequestIdMiddleware:
    """Takes the caller's X-Request-Id, else the trace of its traceparent, else makes one.

    The answer, every log line of the request, the job that it admits and that job's provider calls carry it.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        identity = identity_of(request)
        request.larkfield_request_id = identity  # type: ignore[attr-defined]  # read by admission
        token = traces.request_id.set(identity)
        began = time.monotonic()
        parent = request.META.get("HTTP_TRACEPARENT", "")
        try:
            with traces.span("request", f"{request.method} {_area(request.path)}", traceparent=parent) as span:
                response = self.get_response(request)
                _note(request, response, time.monotonic() - began, span)
        finally:
            traces.request_id.reset(token)
        response.headers["X-Request-Id"] = identity
        return response


def identity_of(request: HttpRequest) -> str:
    """The request's id: 1 to 64 letters, digits, dots, hyphens and underscores."""
    given: str = request.META.get("HTTP_X_REQUEST_ID", "")
    if _VALID_ID.fullmatch(given):
        return given
    trace = _TRACE_PARENT.fullmatch(request.META.get("HTTP_TRACEPARENT", ""))
    return trace[1] if trace and int(trace[1], 16) else secrets.token_hex(16)


def _area(path: str) -> str:
    """The first two parts of the path: few enough to name spans by."""
    return "/" + "/".join(path.split("/")[1:3])


def _note(request: HttpRequest, response: HttpResponse, seconds: float, span: Any) -> None:
    """What changed something or failed by our fault is logged; what was refused is counted."""
    code = problem_code(response) if response.status_code >= 400 else ""
    if code:
        refusals.count(code)
    if span is not None:
        span.set_attribute("http.response.status_code", response.status_code)
    is_told = code == "internal_error" or (response.status_code < 400 and request.method not in ("GET", "HEAD"))
    level = logging.INFO if is_told else logging.DEBUG
    if log.isEnabledFor(level):
        fields: dict[str, object] = {
            "method": request.method, "path": request.path, "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
        }  # fmt: skip
        if code:
            fields["code"] = code
        if (job := response.headers.get("Location", "")).startswith("/v1/jobs/"):
            fields["job"] = job.removeprefix("/v1/jobs/")
        log.log(level, "request answered", extra=fields)


def problem_code(response: HttpResponse) -> str:
    """The stable code of a problem document; "" where the answer is none."""
    if code := getattr(response, "problem_code", None):
        return str(code)
    if not response.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
        return ""
    found = getattr(response, "data", None) or json.loads(response.content)
    return str(found["code"])


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
    return is_cut_short or "HTTP_TRANSFER_ENCODING" in request.META
