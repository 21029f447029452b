"""Events in the schema: what is sent, plain or as CloudEvents, and what became of it."""

from typing import Any

from rest_framework import serializers

from ingestion.events.envelope import NAME_MAX
from ingestion.events.ledger import EVENT_STATES, REFUSALS, STATES
from ingestion.events.types import TYPES
from ingestion.problems import TITLES
from ingestion.views.schema.pieces import (
    ESTIMATE,
    JOB,
    ErrorSerializer,
    EstimateSerializer,
    JobReferenceSerializer,
    moment,
)

# Control characters stand in no honest name, and NUL can't be stored.
NAME: dict[str, Any] = {
    "type": "string", "minLength": 1, "maxLength": NAME_MAX, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
}  # fmt: skip
# To ask for a name costs nothing: what can't exist is simply not found.
ASKED_NAME = {"type": "string", "minLength": 1}
PATH_NAME = {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}
MOMENT = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
    "description": "RFC 3339 with a zone.",
}
PAYLOAD = {
    "type": "object",
    "description": "At most 65,536 bytes as JSON. What its type demands of it is checked when it is applied.",
}
KIND = {"type": "string", "enum": list(TYPES)}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


EVENT = {
    "type": "object",
    "properties": {
        "producer": NAME, "event_id": NAME, "type": KIND, "occurred_at": MOMENT, "payload": PAYLOAD,
        "partition": {**_or_null(NAME), "description": "Order is kept within it. Default: the producer."},
        "expires_at": {**_or_null(MOMENT), "description": "What is not applied by then is expired."},
    },
    "required": ["producer", "event_id", "type", "occurred_at", "payload"],
}  # fmt: skip
CLOUD_EVENT = {
    "type": "object",
    "properties": {
        "specversion": {"const": "1.0"}, "source": NAME, "id": NAME, "type": KIND, "data": PAYLOAD,
        "time": _or_null(MOMENT), "partitionkey": _or_null(NAME),
    },
    "required": ["specversion", "source", "id", "type", "data"],
}  # fmt: skip
EVENT_BODIES = {"application/json": EVENT, "application/cloudevents+json": CLOUD_EVENT}
# One bad event of a batch is answered in its place: nothing but the list is demanded here.
_MANY = {"type": "array", "minItems": 1, "maxItems": 500, "items": {}}
BATCH_BODIES = {
    "application/json": {"type": "object", "properties": {"events": _MANY}, "required": ["events"]},
    "application/cloudevents-batch+json": _MANY,
}


class EventSerializer(serializers.Serializer[object]):
    producer = serializers.CharField()
    event_id = serializers.CharField()
    type = serializers.ChoiceField(list(TYPES))
    state = serializers.ChoiceField(sorted(set(EVENT_STATES.values())))


class SentEventSerializer(serializers.Serializer[object]):
    event = EventSerializer()
    job = JobReferenceSerializer()
    estimate = EstimateSerializer()


class StoredEventSerializer(EventSerializer):
    received_at = moment()
    job = JobReferenceSerializer()
    error = ErrorSerializer(allow_null=True)


class OfferedEventSerializer(serializers.Serializer[object]):
    producer = serializers.CharField()
    event_id = serializers.CharField()
    type = serializers.ChoiceField(list(TYPES))
    state = serializers.ChoiceField(sorted(set(EVENT_STATES.values())), allow_null=True)


class OutcomeSerializer(serializers.Serializer[object]):
    index = serializers.IntegerField(min_value=0)
    outcome = serializers.ChoiceField(["accepted", *REFUSALS])
    event = OfferedEventSerializer(allow_null=True)
    job = JobReferenceSerializer(allow_null=True)
    retry_after = serializers.IntegerField(allow_null=True, help_text="seconds")
    code = serializers.ChoiceField(list(TITLES), allow_null=True)
    detail = serializers.CharField(allow_null=True)
    field = serializers.CharField(required=False)


class BatchSerializer(serializers.Serializer[object]):
    outcomes = OutcomeSerializer(many=True)


def _counts(names: list[str]) -> dict[str, serializers.IntegerField]:
    return {name: serializers.IntegerField(min_value=0) for name in names}


LedgerSerializer = type(
    "LedgerSerializer",
    (serializers.Serializer,),
    {
        "__doc__": "What was offered, and what became of it; `balanced`: every accepted event is in one of six states.",
        **_counts(["offered", "accepted", *REFUSALS, *STATES]),
        "balanced": serializers.BooleanField(),
    },
)

EVENT_EXAMPLE = {
    "producer": "helpdesk-eu", "event_id": "e-1001", "type": "answer.rated", "occurred_at": "2026-11-27T09:00:00Z",
    "payload": {"answer_id": "a-77", "document": "returns", "rating": 5},
}  # fmt: skip
CLOUD_EVENT_EXAMPLE = {
    "specversion": "1.0", "source": "helpdesk-eu", "id": "e-1002", "type": "document.viewed",
    "time": "2026-11-27T09:00:00Z", "data": {"document": "returns", "version": 2},
}  # fmt: skip
BATCH_EXAMPLE = {"events": [EVENT_EXAMPLE, {**EVENT_EXAMPLE, "event_id": "e-1003"}]}
SENT_EXAMPLE = {
    "event": {"producer": "helpdesk-eu", "event_id": "e-1001", "type": "answer.rated", "state": "queued"},
    "job": JOB,
    "estimate": ESTIMATE,
}
