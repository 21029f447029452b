"""OpenTelemetry: the spans of `ingestion.traces` go to a collector. Loaded only where one is named.

A job goes on with the trace of the request that admitted it, though another process runs it hours later: both ids of
the request's span follow from the request's id, which is stored with the job.
"""

import atexit
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ingestion import traces

KINDS = {"request": SpanKind.SERVER, "job": SpanKind.CONSUMER, "step": SpanKind.INTERNAL, "call": SpanKind.CLIENT}
_TRACE_ID = re.compile(r"[0-9a-f]{32}")

# The ids that the next request's span gets.
_wanted: ContextVar[tuple[int, int] | None] = ContextVar("wanted_span", default=None)


def ids_of(request_id: str) -> tuple[int, int]:
    """(trace, span) of the request: its id is the trace where it looks like one, else both are made from it."""
    digest = hashlib.sha256(request_id.encode()).digest()
    is_trace = _TRACE_ID.fullmatch(request_id) and int(request_id, 16)
    trace_id = int(request_id, 16) if is_trace else int.from_bytes(digest[:16])
    return trace_id, int.from_bytes(digest[16:24])


class _Ids(RandomIdGenerator):
    """Random ids, but for a request's span."""

    def generate_trace_id(self) -> int:
        wanted = _wanted.get()
        return wanted[0] if wanted else super().generate_trace_id()

    def generate_span_id(self) -> int:
        wanted = _wanted.get()
        return wanted[1] if wanted else super().generate_span_id()


class Tracing:
    """Opens spans for `ingestion.traces`."""

    def __init__(self, processor: SpanProcessor) -> None:
        resource = Resource.create({SERVICE_NAME: "larkfield"})
        self.provider = TracerProvider(resource=resource, id_generator=_Ids(), shutdown_on_exit=False)
        self.provider.add_span_processor(processor)
        self._tracer = self.provider.get_tracer("larkfield")

    @contextmanager
    def open(self, sort: traces.Sort, name: str, attributes: dict[str, Any]) -> Iterator[Span]:
        """The span is current inside. An error that passes is named by its type alone: its text may be a document's."""
        span = self._begin(sort, name, attributes)
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def _begin(self, sort: traces.Sort, name: str, attributes: dict[str, Any]) -> Span:
        request_id = traces.request_id.get()
        parent = attributes.pop("traceparent", "")
        attributes = {f"larkfield.{key}": value for key, value in attributes.items()}
        if request_id:
            attributes["larkfield.request_id"] = request_id
        kind = KINDS[sort]
        if sort == "request":
            return self._begin_request(name, parent, attributes)
        if sort == "job" and request_id:
            return self._tracer.start_span(name, _remote(*ids_of(request_id)), kind, attributes)
        return self._tracer.start_span(name, kind=kind, attributes=attributes)

    def _begin_request(self, name: str, parent: str, attributes: dict[str, Any]) -> Span:
        """A root, or a child of the caller's span where the trace is the same, else linked to it."""
        ids = ids_of(traces.request_id.get())
        given = TraceContextTextMapPropagator().extract({"traceparent": parent}, Context())
        caller = trace.get_current_span(given).get_span_context()
        is_same = caller.is_valid and caller.trace_id == ids[0]
        links = [Link(caller)] if caller.is_valid and not is_same else []
        token = _wanted.set(ids)
        try:
            context = given if is_same else Context()
            return self._tracer.start_span(name, context, SpanKind.SERVER, attributes, links)
        finally:
            _wanted.reset(token)


def _remote(trace_id: int, span_id: int) -> Context:
    parent = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return trace.set_span_in_context(NonRecordingSpan(parent), Context())


def start(processor: SpanProcessor | None = None) -> Tracing:
    """Spans are made from now on and go to the collector (or the processor), in batches, off the request's way."""
    tracing = Tracing(processor or BatchSpanProcessor(OTLPSpanExporter()))
    traces.listen(tracing.open, tracing.provider.shutdown)
    atexit.register(tracing.provider.shutdown)
    return tracing
