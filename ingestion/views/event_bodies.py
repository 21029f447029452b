"""A request's body as envelopes: plain JSON, or CloudEvents in structured, binary or batched mode."""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from ingestion import requests
from ingestion.events import cloudevents, envelope
from ingestion.events.batches import Unreadable, read_events
from ingestion.events.envelope import PAYLOAD_MAX_BYTES, Envelope
from ingestion.parsers import parse_json
from ingestion.problems import Problem

# Escapes can make six bytes of two, and the envelope stands around the payload.
EVENT_MAX_BYTES = 4 * PAYLOAD_MAX_BYTES
# Five hundred events of the usual few hundred bytes take a tenth of it.
BATCH_MAX_BYTES = 2_097_152
BATCH_MAX = 500


def read_event(request: Request | HttpRequest) -> Envelope:
    """The event of a POST /v1/events. Raises Problem 400, 413, 415 or 422."""
    media_type = _media_type(request)
    if media_type == cloudevents.STRUCTURED:
        return cloudevents.read_structured(_json(request))
    if cloudevents.is_binary(request.headers) and cloudevents.is_json(media_type):
        return cloudevents.read_binary(request.headers, _json(request))
    if media_type == "application/json":
        return envelope.read(_json(request))
    raise _unsupported(f"application/json or {cloudevents.STRUCTURED}")


def read_batch(request: Request) -> list[Envelope | Problem]:
    """The events of a POST /v1/events/batch; what is wrong with one stands in its place.

    Raises Problem 400, 413 or 415 for a batch that is none.
    """
    media_type = _media_type(request)
    if media_type not in ("application/json", cloudevents.BATCH):
        raise _unsupported(f"application/json or {cloudevents.BATCH}")
    is_cloud = media_type == cloudevents.BATCH
    try:
        events = read_events(requests.read_body(request, BATCH_MAX_BYTES), None if is_cloud else "events")
    except ValueError as error:
        raise _malformed(error) from None
    if not isinstance(events, list) or not 1 <= len(events) <= BATCH_MAX:
        raise Problem("invalid_request", f"A batch is a list of 1 to {BATCH_MAX} events.")
    return [_read_one(event, is_cloud) for event in events]


def _read_one(event: Any, is_cloud: bool) -> Envelope | Problem:
    if isinstance(event, Unreadable):
        return Problem("invalid_request", f"The event is not valid JSON: {event.reason}.")
    try:
        return cloudevents.read_structured(event) if is_cloud else envelope.read(event)
    except Problem as problem:
        return problem


def _media_type(request: Request | HttpRequest) -> str:
    """The body's type in lower case without parameters; a charset other than UTF-8 is refused."""
    media_type, _, parameters = request.headers.get("Content-Type", "").partition(";")
    for parameter in parameters.lower().split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip().strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise Problem("unsupported_type", "JSON is sent as UTF-8.")
    return media_type.strip().lower()


def _json(request: Request | HttpRequest) -> Any:
    try:
        return parse_json(requests.read_body(request, EVENT_MAX_BYTES))
    except ValueError as error:
        raise _malformed(error) from None


def _malformed(error: ValueError) -> Problem:
    return Problem("invalid_request", f"The body is not valid JSON: {error}.")


def _unsupported(known: str) -> Problem:
    return Problem("unsupported_type", f"Send events as {known}.")
