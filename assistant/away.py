"""What a person reads while the database does not answer: one page that waits and comes back by itself."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from ingestion.connections import AWAY

log = logging.getLogger("assistant")

RETRY_SECONDS = 5


def told_when_away(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """The view; where the database is away, a page that says so, with 503. It is made without session or account."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return cast(HttpResponse, view(request, *args, **kwargs))
        except AWAY as error:
            log.warning("a page found no database", extra={"error": type(error).__name__})
            headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
            return HttpResponse(render_to_string("503.html"), status=503, headers=headers)

    return guarded
