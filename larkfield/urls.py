"""All routes: the API, its schema, health and metrics, the admin, and the pages."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView

from ingestion.problems import Problem
from larkfield.health import healthz, readyz
from larkfield.metrics import metrics
from larkfield.schema import SchemaPage


def no_such_route(request: HttpRequest) -> HttpResponse:
    """Below /v1/ and /api/ an unknown path is a problem document, not a page."""
    return Problem("not_found", "There is no such route; /api/docs lists them.").response()


urlpatterns = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SchemaPage.as_view(url_name="schema"), name="docs"),
    path("v1/", include("ingestion.urls")),
    path("v1/", include("ingestion.urls_events")),
    path("", include("assistant.urls")),
    re_path(r"^(?:v1|api)(?:/|$)", no_such_route),
    path("admin/", admin.site.urls),
    path("", include("assistant.page_urls")),
]
