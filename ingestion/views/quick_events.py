"""POST /v1/events by its shortest way: the token, the queue and the event's identity in one question, then the saving.

It answers what `EventList` answers, without the API framework around it, which would cost more than the admission. A
body that can't be an ordinary event's, and whoever comes with a session instead of a token, take the long way.
"""

import functools
import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from ingestion import requests
from ingestion.admission import refusal
from ingestion.authentication import bearer_token, caller_of_row, caller_with, check_right
from ingestion.event_admission import Accepted, admit_events
from ingestion.events import intake, ledger
from ingestion.events.envelope import Envelope
from ingestion.models import Caller
from ingestion.models.callers import hash_token
from ingestion.problems import Problem, plain_response
from ingestion.views.event_bodies import read_event
from ingestion.views.events import accepted

View = Callable[..., HttpResponse]
RIGHT = "produce"
# An ordinary event is read before its sender is known: the token is checked with it. A larger body waits for that.
BODY_MAX_BYTES = 16_384


def quick(view: View) -> View:
    """The view, with `post_event` before it; to the schema it is the view itself."""

    @functools.wraps(view)
    def either(request: HttpRequest, *arguments: object, **named: object) -> HttpResponse:
        token = _token(request)
        return view(request, *arguments, **named) if token is None else post_event(request, token)

    return either


def _token(request: HttpRequest) -> str | None:
    """The token of a request that can go the short way."""
    if request.method != "POST":
        return None
    length = request.META.get("CONTENT_LENGTH") or ""
    is_ordinary = length.isascii() and length.isdigit() and len(length) <= 5 and int(length) <= BODY_MAX_BYTES
    return bearer_token(request.META.get("HTTP_AUTHORIZATION", "")) if is_ordinary else None


def post_event(request: HttpRequest, token: str) -> HttpResponse:
    """The 202 of an accepted event, or the problem that says why it is none."""
    try:
        return _post(request, hash_token(token))
    except Exception as error:
        return plain_response(error)


def _post(request: HttpRequest, token_hash: str) -> HttpResponse:
    try:
        event = read_event(request)
    except Problem as problem:
        raise _counted(check_right(caller_with(token_hash), RIGHT), problem) from None
    glance = intake.look_one(token_hash, event)
    caller = check_right(None if glance.caller is None else caller_of_row(glance.caller), RIGHT)
    if glance.is_counted:
        # The database found nothing else wrong with it: the overload path is the cheap path.
        raise refusal("events", is_draining=glance.sight.is_draining)
    try:
        verdict = _admit(request, caller, event, glance)
    except Problem as problem:
        raise _counted(caller, problem) from None
    answer, headers = accepted(caller, verdict)
    content = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    return HttpResponse(content, status=202, headers=headers, content_type="application/json")


def _admit(request: HttpRequest, caller: Caller, event: Envelope, glance: intake.Glance) -> Accepted:
    verdict = admit_events(caller, [event], requests.identity(request), glance.sight)[0]
    if isinstance(verdict, Problem):
        raise verdict
    return verdict


def _counted(caller: Caller, problem: Problem) -> Problem:
    """The problem; a refusal of the whole request counts as one offered event."""
    ledger.count(caller.pk, [ledger.outcome_of(problem.code)])
    return problem
