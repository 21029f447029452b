"""`GET /v1/search` and `POST /v1/answers`: HTTP in, one call down, HTTP out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, cast

from django.http import StreamingHttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from assistant import answering, eventstream, schema
from assistant.passages import Passage
from assistant.search import find
from ingestion import limits
from ingestion.models import Caller
from ingestion.problems import Problem
from ingestion.views.schema import Example, described, query
from ingestion.views.schema.pieces import SLUG

QUESTION_MAX = 2_000
LIMIT_DEFAULT = 10
LIMIT_MAX = 50
# Control characters and lone surrogates: PostgreSQL's text can't hold all of them, and none is asked for.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SHOWN = ("document", "version", "position", "heading_path", "start", "end", "text", "score")


class SearchView(APIView):
    """Passages of published versions that fit a question, the best first."""

    required_rights = {"GET": "ask"}

    @described(
        "search",
        {(200, "application/json"): schema.SearchSerializer},
        *("forbidden", "not_found", "rate_limited", "provider_unavailable"),
        parameters=[
            query("q", schema.QUESTION, "what is looked for", required=True),
            query(
                "limit", {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT}, "results"
            ),
            query("document", SLUG, "search in this document alone"),
        ],
        examples=[Example("A passage", schema.SEARCH_EXAMPLE, 200)],
    )
    def get(self, request: Request) -> Response:
        question = _question(request.query_params.get("q"), "q")
        limit = _limit(request.query_params.get("limit"))
        document = request.query_params.get("document")
        if document is not None and _CONTROL.search(document):
            raise Problem("not_found", "There is no document with this slug.")
        with _counted(request):
            found = find(question, limit=limit, document=document)
        return Response({"results": [_shown(passage) for passage in found.passages]})


class AnswersView(APIView):
    """An answer whose every sentence cites a passage of a published version."""

    required_rights = {"POST": "ask"}
    renderer_classes = [JSONRenderer, eventstream.EventStreamRenderer]

    @described(
        "answer",
        {(200, "application/json"): schema.AnswerSerializer, (200, eventstream.MEDIA_TYPE): schema.STREAM},
        *("forbidden", "too_large", "unsupported_type", "rate_limited", "provider_unavailable"),
        request={"application/json": schema.QUESTION_BODY},
        examples=[
            Example("A question", schema.QUESTION_EXAMPLE),
            Example("A cited answer", schema.ANSWER_EXAMPLE, 200),
            Example("A stream", schema.STREAM_EXAMPLE, 200, eventstream.MEDIA_TYPE),
        ],
    )
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        if not isinstance(request.data, dict):
            raise Problem("invalid_request", "The body must be a JSON object with the key 'question'.")
        question = _question(request.data.get("question"), "question")
        if eventstream.MEDIA_TYPE not in request.headers.get("Accept", "").lower():
            with _counted(request):
                return Response(answering.answer(question))
        events = _counted_stream(request, question)
        # The first piece is waited for here, so that what fails before it is still an ordinary refusal.
        return eventstream.response(next(events), events)


def _question(given: Any, name: str) -> str:
    """The question on one line: white space never changes what is asked, nor what is found in the cache."""
    if not isinstance(given, str):
        raise Problem("invalid_request", f"'{name}' must be a text of 1 to {QUESTION_MAX} characters.")
    # Length first: nothing is done with a text that is refused anyway.
    if len(given.strip()) > QUESTION_MAX:
        raise Problem("invalid_request", f"'{name}' has more than {QUESTION_MAX} characters.")
    question = " ".join(_CONTROL.sub(" ", given).split())
    if not question:
        raise Problem("invalid_request", f"'{name}' is empty: it must have 1 to {QUESTION_MAX} characters.")
    return question


def _limit(given: str | None) -> int:
    if given is None:
        return LIMIT_DEFAULT
    limit = int(given) if given.isascii() and given.isdigit() and len(given) <= 3 else 0
    if not 1 <= limit <= LIMIT_MAX:
        raise Problem("invalid_request", f"'limit' must be a whole number from 1 to {LIMIT_MAX}.")
    return limit


def _shown(passage: Passage) -> dict[str, Any]:
    every = asdict(passage)
    return {name: every[name] for name in _SHOWN}


@contextmanager
def _counted(request: Request) -> Iterator[None]:
    """One question of the caller's minute; it costs none when a fault of ours or of the provider's ended it."""
    caller = cast(Caller, request.user)
    limits.take(caller, "questions")
    try:
        yield
    except Exception as error:
        if not isinstance(error, Problem) or error.status >= 500:
            limits.give_back(caller, "questions")
        raise


def _counted_stream(request: Request, question: str) -> Iterator[str | answering.Answer]:
    with _counted(request):
        yield from answering.stream(question)
