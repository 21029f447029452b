"""What the pages' scripts ask for beyond the API: the same callers and problem documents, no part of its contract."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from assistant import feedback, history, operations, passage_reading
from assistant.feedback import Rating
from ingestion import requests
from ingestion.authentication import caller_of
from ingestion.problems import Problem

QUESTION_MAX = 2_000
ANSWER_MAX = 50_000


class PageCall(APIView):
    """Nothing of it is kept by the browser: it changes each second or belongs to one person."""

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Any:
        finished = super().finalize_response(request, response, *args, **kwargs)
        finished.headers["Cache-Control"] = "no-store"
        return finished


@extend_schema(exclude=True)
class OperationsNumbers(PageCall):
    required_rights = {"GET": "operate"}

    def get(self, request: Request) -> Response:
        return Response(operations.numbers())


@extend_schema(exclude=True)
class OperationsHistory(PageCall):
    required_rights = {"GET": "operate"}

    def get(self, request: Request) -> Response:
        return Response(history.last_hour())


@extend_schema(exclude=True)
class Passages(PageCall):
    """GET ?cite=document:version:position, once for each citation of an answer."""

    required_rights = {"GET": "ask"}

    def get(self, request: Request) -> Response:
        given = request.query_params.getlist("cite")
        places = [place for place in map(passage_reading.read_place, given) if place is not None]
        if not 1 <= len(given) <= passage_reading.CITED_MAX or len(places) < len(given):
            raise Problem("invalid_request", "Name 1 to 20 passages: ?cite=document:version:position.")
        return Response({"passages": [vars(passage) for passage in passage_reading.passages(places)]})


@extend_schema(exclude=True)
class Feedback(PageCall):
    """POST what a person says of an answer; 202 also when it was said before."""

    required_rights = {"POST": "ask"}

    def post(self, request: Request) -> Response:
        is_known = feedback.rate(caller_of(request), _rating(request.data), requests.identity(request))
        headers = {"Idempotent-Replayed": "true"} if is_known else {}
        return Response({"rated": True, "known": is_known}, status=202, headers=headers)


def _rating(given: Any) -> Rating:
    """The rating in a parsed body. Raises Problem 400."""
    if not isinstance(given, dict) or not isinstance(given.get("helpful"), bool):
        raise Problem("invalid_request", "'helpful' must be true or false.")
    question, answer = _text(given, "question", QUESTION_MAX), _text(given, "answer", ANSWER_MAX)
    cited = given.get("cited")
    if not isinstance(cited, list) or not 1 <= len(cited) <= feedback.CITED_MAX:
        raise Problem("invalid_request", f"'cited' must be a list of 1 to {feedback.CITED_MAX} documents.")
    return Rating(question, answer, sorted({_cited(one) for one in cited}), given["helpful"])


def _text(given: dict[str, Any], name: str, most: int) -> str:
    text = given.get(name)
    if not isinstance(text, str) or not 1 <= len(text) <= most:
        raise Problem("invalid_request", f"'{name}' must be a text of 1 to {most} characters.")
    return text


def _cited(given: Any) -> tuple[str, int]:
    place = None
    if isinstance(given, dict):
        place = passage_reading.read_place(f"{given.get('document')}:{given.get('version')}:0")
    if place is None or place.version < 1:
        raise Problem("invalid_request", "Each of 'cited' has a 'document' and its 'version'.")
    return place.document, place.version
