"""An answer as server-sent events. Knows the wire format; makes no answer."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.renderers import JSONRenderer

from ingestion.problems import exception_handler

MEDIA_TYPE = "text/event-stream"


class EventStreamRenderer(JSONRenderer):
    """Lets a route be asked for an event stream; a refusal before the stream begins is an ordinary JSON body."""

    media_type = MEDIA_TYPE
    format = "events"


def response(first: str | dict[str, Any], rest: Iterator[str | dict[str, Any]]) -> StreamingHttpResponse:
    """A stream of `delta` events and one `done`; or one `error` when it fails on the way."""
    answer = StreamingHttpResponse(_written(chain([first], rest)), content_type=f"{MEDIA_TYPE}; charset=utf-8")
    answer.headers["Cache-Control"] = "no-cache"
    # nginx would hold the events back until its buffer is full.
    answer.headers["X-Accel-Buffering"] = "no"
    return answer


def _written(events: Iterator[str | dict[str, Any]]) -> Iterator[str]:
    try:
        for event in events:
            if isinstance(event, str):
                yield _event("delta", {"text": event})
            else:
                yield _event("done", event)
    except Exception as error:
        # The status line is long gone: the reader learns it from the stream.
        yield _event("error", exception_handler(error, {}).data)


def _event(name: str, content: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
