"""One decorator for all routes: the answers of each status, the refusals in words, bounds and headers.

A refusal is named by its problem code; status, title and headers follow from it, so that no route words its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from ingestion.problems import MEDIA_TYPE, TITLES

View = TypeVar("View", bound=Callable[..., Any])

# Any request below /v1/ can meet these.
ALWAYS = ("invalid_request", "unauthenticated", "internal_error", "unavailable")
# Which refusals say when to come back.
TIMED = (429, 503)

PROBLEM = {
    "type": "object",
    "description": "RFC 9457. `code` is stable; `field` names what an event is refused for.",
    "properties": {
        "type": {"type": "string", "pattern": "^urn:larkfield:problem:[a-z_]+$"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "code": {"type": "string", "enum": list(TITLES)},
        "field": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "code"],
}


@dataclass(frozen=True)
class Example:
    """A value under a name: of the body that is sent where `status` is None, else of that answer."""

    name: str
    value: Any
    status: int | None = None
    media_type: str = "application/json"


def query(name: str, schema: Mapping[str, Any], text: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, dict(schema), OpenApiParameter.QUERY, required=required, description=text)


def path(name: str, schema: Mapping[str, Any], text: str) -> OpenApiParameter:
    return OpenApiParameter(name, dict(schema), OpenApiParameter.PATH, required=True, description=text)


def header(name: str, schema: Mapping[str, Any], text: str) -> OpenApiParameter:
    return OpenApiParameter(name, dict(schema), OpenApiParameter.HEADER, description=text)


def given(name: str, schema: Mapping[str, Any], text: str, statuses: Sequence[int]) -> OpenApiParameter:
    """A header of the answers with these statuses."""
    return OpenApiParameter(
        name, dict(schema), OpenApiParameter.HEADER, description=text, response=[str(status) for status in statuses]
    )


def described(
    operation_id: str,
    answers: Mapping[Any, Any],
    *refused: str,
    parameters: Sequence[OpenApiParameter] = (),
    request: Any = None,
    examples: Sequence[Example] = (),
) -> Callable[[View], View]:
    """The route's place in the schema. `answers`: serializers by status or (status, media type); `refused`: codes."""
    codes = list(dict.fromkeys((*ALWAYS, *refused)))
    statuses = sorted({TITLES[code][0] for code in codes})
    good = sorted({key[0] if isinstance(key, tuple) else key for key in answers})
    decorate: Callable[[View], View] = extend_schema(
        operation_id=operation_id,
        request=request,
        parameters=[*parameters, *_headers(good, statuses)],
        responses={**answers, **{(status, MEDIA_TYPE): _refusal(status, codes) for status in statuses}},
        examples=[_example(one) for one in examples],
    )
    return decorate


def _refusal(status: int, codes: Sequence[str]) -> OpenApiResponse:
    own = [code for code in codes if TITLES[code][0] == status]
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Problem"},
            {"properties": {"status": {"const": status}, "code": {"enum": own}}},
        ]
    }
    words = " ".join(f"`{code}`: {TITLES[code][1]}." for code in own)
    return OpenApiResponse(schema, description=words, examples=[_problem_example(code) for code in own])


def _problem_example(code: str) -> OpenApiExample:
    status, title = TITLES[code]
    value = {
        "type": f"urn:larkfield:problem:{code}",
        "title": title,
        "status": status,
        "detail": "What is wrong with this request, and what to do.",
        "code": code,
    }
    return OpenApiExample(code, value, response_only=True, media_type=MEDIA_TYPE, status_codes=[str(status)])


def _headers(good: Sequence[int], refused: Sequence[int]) -> list[OpenApiParameter]:
    every = [*good, *refused]
    found = [given("X-Request-Id", {"type": "string"}, "Names this request in every log line, job and trace.", every)]
    if 401 in refused:
        found.append(given("WWW-Authenticate", {"type": "string"}, "How to authenticate.", [401]))
    if timed := [status for status in TIMED if status in refused]:
        seconds = {"type": "integer", "minimum": 1}
        found.append(given("Retry-After", seconds, "Seconds after which to send the same request again.", timed))
    if 429 in refused:
        found.append(given("RateLimit-Policy", {"type": "string"}, "The limit and its window.", [429]))
        found.append(given("RateLimit", {"type": "string"}, "What is left, and when the next is free.", [429]))
    return found


def _example(one: Example) -> OpenApiExample:
    if one.status is None:
        return OpenApiExample(one.name, one.value, request_only=True, media_type=one.media_type)
    return OpenApiExample(
        one.name, one.value, response_only=True, media_type=one.media_type, status_codes=[str(one.status)]
    )
