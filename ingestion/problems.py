"""Errors as RFC 9457 problem documents: every 4xx and 5xx of the API is worded here.

`Problem` is what views raise; `exception_handler` also turns DRF's and the database's own errors into one.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from psycopg_pool import PoolTimeout
from rest_framework import exceptions
from rest_framework.response import Response

log = logging.getLogger("ingestion.problems")

MEDIA_TYPE = "application/problem+json"
TITLES = {
    "invalid_request": (400, "The request is not valid"),
    "invalid_idempotency_key": (400, "The Idempotency-Key is not valid"),
    "unauthenticated": (401, "A valid token is needed"),
    "forbidden": (403, "This caller lacks the right"),
    "not_found": (404, "Not found"),
    "method_not_allowed": (405, "This method is not allowed here"),
    "conflict": (409, "The state does not allow it"),
    "event_conflict": (409, "This event was sent before with another payload"),
    "precondition_failed": (412, "The document has another latest version"),
    "too_large": (413, "The body is too large"),
    "unsupported_type": (415, "This media type is not accepted"),
    "idempotency_key_reused": (422, "The Idempotency-Key was used for another request"),
    "empty_document": (422, "The document has no text"),
    "undecodable_text": (422, "The text can't be decoded"),
    "invalid_event": (422, "The event is not valid"),
    "rate_limited": (429, "Too many requests"),
    "queue_full": (503, "The queue is full"),
    "draining": (503, "Admission is paused"),
    "provider_unavailable": (503, "No answer can be made now"),
    "unavailable": (503, "The service is not available"),
    "internal_error": (500, "A fault of ours"),
}


class Problem(Exception):
    """An answer that refuses: `code` names it, `detail` says what to do, `headers` go with it."""

    def __init__(self, code: str, detail: str, headers: Mapping[str, str] | None = None, **extra: Any) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.status, self.title = TITLES[code]
        self.detail = detail
        self.headers = dict(headers or {})
        self.extra = extra

    def document(self) -> dict[str, Any]:
        return {
            "type": f"urn:larkfield:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            **self.extra,
        }

    def response(self) -> HttpResponse:
        answer = JsonResponse(self.document(), status=self.status, headers=self.headers, content_type=MEDIA_TYPE)
        answer.problem_code = self.code  # type: ignore[attr-defined]  # for whoever counts refusals
        return answer


def _translate(error: Exception) -> Problem:
    """The problem that stands for an exception of DRF, Django or the database."""
    match error:
        case Problem():
            return error
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Problem("unauthenticated", str(error.detail), {"WWW-Authenticate": 'Bearer realm="larkfield"'})
        case exceptions.PermissionDenied():
            return Problem("forbidden", str(error.detail))
        case exceptions.MethodNotAllowed():
            return Problem("method_not_allowed", str(error.detail))
        case exceptions.UnsupportedMediaType():
            return Problem("unsupported_type", str(error.detail))
        case exceptions.NotFound() | Http404():
            return Problem("not_found", "There is nothing here that this caller may see.")
        case exceptions.APIException() if error.status_code < 500:
            return Problem("invalid_request", str(error.detail))
        case OperationalError() | InterfaceError() | PoolTimeout():
            log.warning("the database does not answer", extra={"error": type(error).__name__})
            return Problem("unavailable", "The database does not answer; try again.", {"Retry-After": "5"})
        case _:
            log.exception("unhandled error", exc_info=error)
            return Problem("internal_error", "The request could not be handled; the fault is logged.")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """Answers every exception of an API view as a problem document (DRF's EXCEPTION_HANDLER)."""
    problem = _translate(error)
    return Response(problem.document(), status=problem.status, headers=problem.headers, content_type=MEDIA_TYPE)


def plain_response(error: Exception) -> HttpResponse:
    """The same for a view that stands outside the API framework."""
    return _translate(error).response()


def error_view(code: str, detail: str, page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view for Django's handler400 and its kin, where no view was reached: a problem for the API, else `page`."""

    def view(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        if request.path.startswith(("/v1/", "/api/")):
            return Problem(code, detail).response()
        return page(request) if exception is None else page(request, exception)

    return view
