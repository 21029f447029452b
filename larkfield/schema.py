"""How the OpenAPI schema words our authentication, and the page that shows it."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from larkfield.middleware import CONTENT_SECURITY_POLICY


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


class SchemaPage(SpectacularSwaggerSplitView):
    """The browsable schema. Its library sets styles on elements, which the pages' own policy forbids."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # as above
        policy = CONTENT_SECURITY_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
        response.headers["Content-Security-Policy"] = policy
        return response
