"""Shapes that several answers share, and the bounds of what is sent."""

from typing import Any

from rest_framework import serializers

from ingestion.models.jobs import LIVE_STATES, TERMINAL_STATES, WAITING_FOR
from ingestion.views.schema.describing import given

# Requests --------------------------------------------------------------------------------------------------------

SLUG = {"type": "string", "pattern": "^[a-z0-9-]{1,100}$"}
NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
CURSOR = {"type": "string", "description": "Opaque: what a `next` of this list holds."}
INCLUDE = {"type": "string", "enum": ["chunks"]}
UUID = {"type": "string", "format": "uuid"}
IDEMPOTENCY_KEY = {"type": "string", "pattern": "^[!-~]{1,255}$"}
IF_MATCH = {"type": "string", "pattern": '^"[0-9]{1,9}"$'}

LOCATION = given("Location", {"type": "string"}, "Where the job is.", [202])
REPLAYED = given(
    "Idempotent-Replayed", {"const": "true"}, "This request was accepted before; nothing was added.", [202]
)

# Answers ---------------------------------------------------------------------------------------------------------

MONEY_RULE = r"^\d+\.\d{6,9}$"
_HASH = r"^[0-9a-f]{64}$"


def money() -> serializers.RegexField:
    return serializers.RegexField(MONEY_RULE, help_text="US dollars as a decimal")


def digest() -> serializers.RegexField:
    return serializers.RegexField(_HASH, help_text="SHA-256 of the bytes as uploaded")


def moment(*, may_be_null: bool = False) -> serializers.DateTimeField:
    return serializers.DateTimeField(allow_null=may_be_null, help_text="RFC 3339 in UTC")


class EstimateSerializer(serializers.Serializer[object]):
    wait_seconds = serializers.IntegerField(min_value=0)
    low_seconds = serializers.IntegerField(min_value=0)
    high_seconds = serializers.IntegerField(min_value=0)
    basis = serializers.ChoiceField(["measured", "assumed"])


class JobReferenceSerializer(serializers.Serializer[object]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField([*LIVE_STATES, *TERMINAL_STATES])
    url = serializers.CharField()


class ErrorSerializer(serializers.Serializer[object]):
    code = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)


class ProgressSerializer(serializers.Serializer[object]):
    done = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)
    unit = serializers.ChoiceField(["chunks"])


class SubjectSerializer(serializers.Serializer[object]):
    """Of a document's job `document` and `version`, of an event's `producer` and `event_id`."""

    document = serializers.CharField(required=False)
    version = serializers.IntegerField(required=False)
    producer = serializers.CharField(required=False)
    event_id = serializers.CharField(required=False)


class JobSerializer(JobReferenceSerializer):
    queue = serializers.ChoiceField(["documents", "events"])
    kind = serializers.CharField()
    attempt = serializers.IntegerField(min_value=0, help_text="tries charged, the running one included")
    max_attempts = serializers.IntegerField(min_value=1)
    generation = serializers.IntegerField(min_value=0, help_text="only grows: with every claim, retry and repair")
    progress = ProgressSerializer()
    waiting_for = serializers.ChoiceField(WAITING_FOR, allow_null=True)
    ready_at = moment()
    queued_at = moment()
    started_at = moment(may_be_null=True)
    finished_at = moment(may_be_null=True)
    estimate = EstimateSerializer()
    error = ErrorSerializer(allow_null=True)
    subject = SubjectSerializer(allow_null=True)
    provider_calls = serializers.IntegerField(min_value=0)
    cost_usd = money()


def page_of(results: type[serializers.Serializer[Any]], name: str) -> type[serializers.Serializer[Any]]:
    """A page of a list: `results`, and the url of the next page or null."""
    fields = {"results": results(many=True), "next": serializers.CharField(allow_null=True)}
    return type(f"{name}Serializer", (serializers.Serializer,), {**fields, "__doc__": f"A page of {name}."})


ESTIMATE = {"wait_seconds": 42, "low_seconds": 20, "high_seconds": 75, "basis": "measured"}
JOB_ID = "019ad2c1-7e3a-7c55-9d0e-4b1f6f0a2c11"
JOB = {"id": JOB_ID, "state": "queued", "url": f"/v1/jobs/{JOB_ID}"}
