"""Events over HTTP: one, many, what became of one, and the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import requests, standing
from ingestion.event_admission import Accepted, Verdict, admit_events
from ingestion.events import ledger
from ingestion.events.envelope import Envelope
from ingestion.events.ledger import EVENT_STATES
from ingestion.models import Caller, EventRecord, Job
from ingestion.parsers import RawParser
from ingestion.problems import Problem
from ingestion.views import shapes
from ingestion.views.event_bodies import read_batch, read_event
from ingestion.views.schema import Example, described, path, query
from ingestion.views.schema import events as answers
from ingestion.views.schema.pieces import LOCATION, REPLAYED

# What admission can refuse an event with; in a batch each event has its own.
REFUSED = (
    "forbidden",
    "event_conflict",
    "too_large",
    "unsupported_type",
    "invalid_event",
    "rate_limited",
)


@contextmanager
def _counted(caller: Caller) -> Iterator[None]:
    """A refusal of the whole request counts as one offered event."""
    try:
        yield
    except Problem as problem:
        ledger.count(caller.pk, [ledger.outcome_of(problem.code)])
        raise


def _caller(request: Request) -> Caller:
    return cast(Caller, request.user)


def _event(event: Envelope, state: str | None) -> dict[str, Any]:
    return {"producer": event.producer, "event_id": event.event_id, "type": event.type, "state": state}


def _job(found: Accepted) -> dict[str, Any]:
    return {"id": str(found.job_id), "state": found.job_state, "url": f"/v1/jobs/{found.job_id}"}


def accepted(caller: Caller, verdict: Accepted) -> tuple[dict[str, Any], dict[str, str]]:
    """The body and the headers of the 202; a replay is counted."""
    headers = {"Location": f"/v1/jobs/{verdict.job_id}"}
    estimate = verdict.estimate
    if estimate is None:
        ledger.count(caller.pk, ["replayed"])
        headers["Idempotent-Replayed"] = "true"
        estimate = standing.foresee_live(Job.objects.get(pk=verdict.job_id))
    answer = {"event": _event(verdict.event, verdict.state), "job": _job(verdict), "estimate": estimate.answer()}
    return answer, headers


class EventList(APIView):
    """POST one event; GET one by its identity, for names that hold a slash."""

    required_rights = {"POST": "produce"}
    parser_classes = [RawParser]

    @described(
        "send_event",
        {202: answers.SentEventSerializer},
        *(*REFUSED, "queue_full", "draining"),
        request=answers.EVENT_BODIES,
        parameters=[LOCATION, REPLAYED],
        examples=[
            Example("A rated answer", answers.EVENT_EXAMPLE),
            Example("A CloudEvent", answers.CLOUD_EVENT_EXAMPLE, media_type="application/cloudevents+json"),
            Example("Accepted", answers.SENT_EXAMPLE, 202),
        ],
    )
    def post(self, request: Request) -> Response:
        caller = _caller(request)
        with _counted(caller):
            verdict = admit_events(caller, [read_event(request)], requests.identity(request))[0]
            if isinstance(verdict, Problem):
                raise verdict
        answer, headers = accepted(caller, verdict)
        return Response(answer, status=202, headers=headers)

    @described(
        "find_event",
        {200: answers.StoredEventSerializer},
        "not_found",
        parameters=[
            query(name, answers.ASKED_NAME, "of the event", required=True) for name in ("producer", "event_id")
        ],
    )
    def get(self, request: Request) -> Response:
        producer, event_id = (request.query_params.get(name) for name in ("producer", "event_id"))
        if not producer or not event_id:
            raise Problem("invalid_request", "Name an event: ?producer=…&event_id=….")
        return Response(_stored(_find(_caller(request), producer, event_id)))


class EventDetail(APIView):
    @described(
        "read_event",
        {200: answers.StoredEventSerializer},
        "not_found",
        parameters=[
            path(name, answers.PATH_NAME, "of the event, without a slash") for name in ("producer", "event_id")
        ],
    )
    def get(self, request: Request, producer: str, event_id: str) -> Response:
        return Response(_stored(_find(_caller(request), producer, event_id)))


def _find(caller: Caller, producer: str, event_id: str) -> EventRecord:
    """The event, if the caller may see it; NUL can't be asked for."""
    events = EventRecord.objects.select_related("job")
    if not caller.can("operate"):
        events = events.filter(caller=caller)
    known = "\x00" not in producer + event_id
    found = events.filter(producer=producer, event_id=event_id).first() if known else None
    if found is None:
        raise Problem("not_found", "There is no such event, or it is another caller's.")
    return found


def _stored(event: EventRecord) -> dict[str, Any]:
    job = event.job
    return {
        "producer": event.producer,
        "event_id": event.event_id,
        "type": event.type,
        "state": EVENT_STATES[job.state],
        "received_at": shapes.moment(event.received_at),
        "job": shapes.job_reference(job),
        "error": {"code": job.error_code, "detail": job.error_detail} if job.error_code else None,
    }


class EventBatch(APIView):
    """POST up to 500 events; each has its own outcome."""

    required_rights = {"POST": "produce"}
    parser_classes = [RawParser]

    @described(
        "send_events",
        {200: answers.BatchSerializer},
        *("forbidden", "too_large", "unsupported_type"),
        request=answers.BATCH_BODIES,
        examples=[Example("Two events", answers.BATCH_EXAMPLE)],
    )
    def post(self, request: Request) -> Response:
        caller = _caller(request)
        with _counted(caller):
            read = read_batch(request)
            sound = [event for event in read if isinstance(event, Envelope)]
            judged = iter(admit_events(caller, sound, requests.identity(request)) if sound else [])
        verdicts = [next(judged) if isinstance(event, Envelope) else event for event in read]
        outcomes = [_outcome(*numbered) for numbered in zip(range(len(read)), read, verdicts, strict=True)]
        ledger.count(caller.pk, [outcome["outcome"] for outcome in outcomes])
        return Response({"outcomes": outcomes})


def _outcome(index: int, read: Envelope | Problem, verdict: Verdict) -> dict[str, Any]:
    """One event of a batch: what became of it, never implied."""
    if isinstance(verdict, Accepted):
        return {
            "index": index,
            "outcome": "replayed" if verdict.is_replay else "accepted",
            "event": _event(verdict.event, verdict.state),
            "job": _job(verdict),
            "retry_after": None,
            "code": None,
            "detail": None,
        }
    wait = verdict.headers.get("Retry-After")
    return {
        "index": index,
        "outcome": ledger.outcome_of(verdict.code),
        "event": _event(read, None) if isinstance(read, Envelope) else None,
        "job": None,
        "retry_after": int(wait) if wait else None,
        "code": verdict.code,
        "detail": verdict.detail,
        **verdict.extra,
    }


class EventLedger(APIView):
    @described("read_ledger", {200: answers.LedgerSerializer})
    def get(self, request: Request) -> Response:
        caller = _caller(request)
        return Response(ledger.read(None if caller.can("operate") else caller.pk))
