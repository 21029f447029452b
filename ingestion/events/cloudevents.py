"""CloudEvents 1.0 as envelopes: `source` is the producer, `id` the event's id, `partitionkey` the partition (pure).

Structured mode carries all in one JSON object, binary mode the attributes in `ce-` headers and the data as the body.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from ingestion.events.envelope import Envelope, invalid, read
from ingestion.problems import Problem

PREFIX = "ce-"
STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
NAMES = {
    "producer": "source",
    "event_id": "id",
    "type": "type",
    "occurred_at": "time",
    "partition": "partitionkey",
    "expires_at": "expiresat",
    "payload": "data",
}


def is_json(media_type: str) -> bool:
    """application/json and every type with the suffix +json."""
    return media_type == "application/json" or media_type.endswith("+json")


def read_structured(event: Any) -> Envelope:
    """The envelope in a CloudEvent's JSON form. Raises Problem 422 that names the attribute."""
    if not isinstance(event, dict):
        raise Problem("invalid_request", "A CloudEvent in structured mode is a JSON object.")
    if event.get("specversion") != "1.0":
        raise invalid("specversion", 'must be "1.0".')
    if event.get("data_base64") is not None:
        raise invalid("data_base64", "is not supported: send the data as a JSON object in data.")
    kind = event.get("datacontenttype")
    if kind is not None and not (isinstance(kind, str) and is_json(kind.partition(";")[0].strip().lower())):
        raise invalid("datacontenttype", "must be a JSON media type.")
    return read(event, NAMES, needs_time=False)


def is_binary(headers: Mapping[str, str]) -> bool:
    """The request carries attributes in its headers."""
    return any(name.lower().startswith(PREFIX) for name in headers)


def read_binary(headers: Mapping[str, str], data: Any) -> Envelope:
    """The envelope of a binary-mode request: attributes from its headers, `data` from its body."""
    attributes: dict[str, Any] = {}
    for header, value in headers.items():
        name = header.lower()
        if name.startswith(PREFIX):
            attributes[name.removeprefix(PREFIX)] = _attribute(name, value)
    # The body's own type is the Content-Type; these two are no headers of binary mode.
    for name in ("datacontenttype", "data_base64"):
        attributes.pop(name, None)
    return read_structured({**attributes, "data": data})


def _attribute(header: str, value: str) -> str:
    """A header's value: quotes taken off, then percent-decoded as UTF-8 (HTTP binding, 3.1.3.2)."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = re.sub(r"\\(.)", r"\1", value[1:-1])
    try:
        # WSGI hands headers over as Latin-1.
        return unquote_to_bytes(value.encode("latin-1")).decode()
    except ValueError:
        raise invalid(header, "is not UTF-8 after percent-decoding.") from None
