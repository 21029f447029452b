"""How the OpenAPI schema words our authentication, what it says beside the views, and the page that shows it."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from ingestion.problems import MEDIA_TYPE
from ingestion.views.schema.describing import PROBLEM
from ingestion.views.schema.links import add_links
from larkfield.middleware import CONTENT_SECURITY_POLICY

PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}
_PART = {"type": "string", "enum": ["ok", "degraded", "down"]}
_READY = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["ok", "degraded", "unavailable"]},
        "checks": {"type": "object", "properties": dict.fromkeys(("database", "storage", "cache"), _PART)},
    },
    "required": ["status", "checks"],
}
_ALIVE = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # the library has no types
    target_class = "ingestion.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}


class PageSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # as above
    target_class = "ingestion.authentication.PageSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


def add_what_no_view_describes(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """The problem document that refusals refer to, links, bodies that must be sent, and the open plain Django views."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    for operation in [operation for path in result["paths"].values() for operation in path.values()]:
        add_links(operation)
        if "requestBody" in operation:
            # None of ours can be left out.
            operation["requestBody"]["required"] = True
    result["paths"].update(
        {
            "/healthz": _open("read_health", "The process answers.", {"application/json": _ALIVE}),
            "/readyz": _open("read_readiness", "Its parts are there.", {"application/json": _READY}),
            "/metrics": _open("read_metrics", "For Prometheus.", {"text/plain": {"type": "string"}}),
        }
    )
    # Not ready is told in the same form.
    result["paths"]["/readyz"]["get"]["responses"]["503"] = _answer("A part is missing.", {"application/json": _READY})
    return result


def _open(operation_id: str, text: str, content: dict[str, Any]) -> dict[str, Any]:
    responses = {
        "200": _answer(text, content),
        "400": _answer("The Host is not ours.", {MEDIA_TYPE: PROBLEM_REFERENCE}),
        "503": _answer("The database does not answer.", {MEDIA_TYPE: PROBLEM_REFERENCE}),
    }
    return {"get": {"operationId": operation_id, "tags": ["operation"], "security": [], "responses": responses}}


def _answer(text: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {name: {"schema": schema} for name, schema in content.items()}}


class SchemaDocument(SpectacularAPIView):
    """The schema itself, which is not part of it."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # as above
        return response


# The one style sheet that the page's template holds; a test says when another version of it has another.
PAGE_STYLE = "'sha256-MMpT0iDxyjALd9PdfepImGX3DBfJPXZ4IlDWdPAgtn0='"


class SchemaPage(SpectacularSwaggerSplitView):
    """The browsable schema, under the pages' own policy and its one style sheet."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # as above
        policy = CONTENT_SECURITY_POLICY.replace("style-src 'self'", f"style-src 'self' {PAGE_STYLE}")
        response.headers["Content-Security-Policy"] = policy
        return response
