"""A trace leads from the request through the job to the provider's calls; without an address nothing is loaded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from ingestion import traces
from ingestion.tests import making
from ingestion.tests.simulated import Simulator
from larkfield import tracing

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import sys, django
django.setup()
import larkfield.wsgi, ingestion.management.commands.runworker
print(sorted(name for name in sys.modules if name.startswith("opentelemetry") or name == "larkfield.tracing")[:2])
"""
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.start(SimpleSpanProcessor(exporter))
    yield exporter
    traces.listen(None)


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def identity(span: ReadableSpan) -> int:
    assert span.context
    return int(span.context.span_id)


def trace(span: ReadableSpan) -> int:
    assert span.context
    return int(span.context.trace_id)


@pytest.mark.django_db
def test_a_job_and_its_calls_go_on_with_the_trace_of_the_request(
    spans: InMemorySpanExporter, simulator: Simulator, files: Path
) -> None:
    omar = making.Uploader("omar", "upload")
    job = omar.upload(headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}).json()["job"]["id"]
    making.make_ready(job)
    # Another process would know the stored request id alone.
    making.work()
    found = by_name(spans)
    request, run = found["POST /v1/documents"], found["run job"]
    assert parent(request) == 0x00F067AA0BA902B7, "the caller's own span"
    assert parent(found["admit"]) == identity(request)
    assert parent(run) == identity(request)
    assert {parent(found[name]) for name in ("read", "chunk", "summarize", "embed", "publish")} == {identity(run)}
    assert parent(found["provider chat/completions"]) == identity(found["summarize"])
    assert parent(found["provider embeddings"]) == identity(found["embed"])
    assert {trace(span) for span in found.values()} == {int(TRACE, 16)}
    assert request.attributes
    assert (request.attributes["http.response.status_code"], request.attributes["larkfield.request_id"]) == (202, TRACE)
    assert run.attributes
    assert run.attributes["larkfield.job"] == job


@pytest.mark.django_db
def test_a_caller_with_an_id_of_its_own_is_linked(spans: InMemorySpanExporter) -> None:
    headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": "mine"}
    making.Uploader("mei", "upload").client.get("/v1/news", headers=headers)
    (span,) = spans.get_finished_spans()
    assert span.parent is None
    assert [link.context.trace_id for link in span.links] == [int(TRACE, 16)]
    assert (trace(span), identity(span)) == tracing.ids_of("mine")


@pytest.mark.parametrize("header", ("", "nonsense", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "ff-" + TRACE + "-1-1"))
@pytest.mark.django_db
def test_a_trace_parent_that_is_none_is_passed_over(spans: InMemorySpanExporter, header: str) -> None:
    answer = making.Uploader("mei", "upload").client.get("/v1/news", headers={"traceparent": header})
    (span,) = spans.get_finished_spans()
    assert trace(span) == int(answer.headers["X-Request-Id"], 16)
    assert span.parent is None


@pytest.mark.django_db
def test_an_error_is_named_without_its_text(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="Zanzibar"), traces.span("step", "read"):
        raise ValueError("Zanzibar")
    (span,) = spans.get_finished_spans()
    assert span.attributes
    assert (span.status.status_code, span.attributes["error.type"]) == (StatusCode.ERROR, "ValueError")
    assert "Zanzibar" not in span.to_json()


@pytest.mark.parametrize(
    ("address", "loaded"), (("", "[]"), ("http://127.0.0.1:9", "['larkfield.tracing', 'opentelemetry']"))
)
def test_without_an_address_nothing_of_it_is_loaded(address: str, loaded: str) -> None:
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "larkfield.settings", "OTEL_EXPORTER_OTLP_ENDPOINT": address}
    ended = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, env=values, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.strip() == loaded, ended.stderr


def test_a_span_that_nobody_listens_to_is_one_that_is_there_already() -> None:
    assert traces.span("step", "read") is traces.span("call", "provider embeddings", call="x")
