"""All routes: the API, its schema, health and metrics, the admin, and the pages."""

from collections.abc import Callable
from functools import wraps

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView

from ingestion.connections import AWAY
from ingestion.problems import Problem, error_view
from larkfield.health import healthz, readyz
from larkfield.metrics import metrics
from larkfield.schema import SchemaPage


@csrf_exempt
def no_such_route(request: HttpRequest) -> HttpResponse:
    """Below /v1/ and /api/ an unknown path is a problem document, not a page, whatever the method."""
    return Problem("not_found", "There is no such route; /api/docs lists them.").response()


def read_only(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The open view with GET and HEAD alone; another method is a problem document, not the page of a missing token."""

    @csrf_exempt
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return Problem("method_not_allowed", "This route is only read.", {"Allow": "GET, HEAD"}).response()
        try:
            return view(request)
        except AWAY:
            return Problem("unavailable", "The database does not answer; try again.", {"Retry-After": "5"}).response()

    return guarded


urlpatterns = [
    # First what is asked most: patterns are tried in order.
    path("v1/", include("ingestion.urls_events")),
    path("v1/", include("ingestion.urls")),
    path("healthz", read_only(healthz)),
    path("readyz", read_only(readyz)),
    path("metrics", read_only(metrics)),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SchemaPage.as_view(url_name="schema"), name="docs"),
    path("", include("assistant.urls")),
    re_path(r"^(?:v1|api)(?:/|$)", no_such_route),
    path("admin/", admin.site.urls),
    path("", include("assistant.page_urls")),
]

# What ends before a view: a Host that is not ours, a fault in a middleware.
handler400 = error_view("invalid_request", "The Host header or the request line is not accepted.", defaults.bad_request)
handler500 = error_view("internal_error", "The request could not be handled.", defaults.server_error)
