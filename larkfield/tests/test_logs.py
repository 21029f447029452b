"""One id leads from the request to the provider's own records, and no line tells what it should not."""

import io
import json
import logging
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection

from ingestion.tests import making
from ingestion.tests.simulated import Simulator
from larkfield.logs import JsonFormatter, LineFormatter, without_secrets

SECRET_WORDS = "Zanzibar"


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """What production would have logged, read again."""
    found: list[dict[str, Any]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(JsonFormatter().format(record)))

    handler, root = Keeping(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield found
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.mark.django_db
def test_one_upload_is_followed_by_its_id_through_api_worker_and_provider(
    lines: list[dict[str, Any]], simulator: Simulator, files: Path
) -> None:
    omar = making.Uploader("omar", "upload")
    answer = omar.upload("returns", headers={"X-Request-Id": "follow-me.1"})
    job = answer.json()["job"]["id"]
    making.make_ready(job)
    assert making.work() >= 1
    assert answer.headers["X-Request-Id"] == "follow-me.1"
    mine = [line for line in lines if line.get("request_id") == "follow-me.1"]
    (admitted,) = [line for line in mine if line["message"] == "request answered"]
    assert (admitted["job"], admitted["status"], admitted["logger"]) == (job, 202, "larkfield.requests")
    assert [line["job"] for line in mine if line["message"] == "job succeeded"] == [job]
    called = [line["call"] for line in mine if line["message"] == "provider called"]
    assert {line["job"] for line in mine if line["message"] == "provider called"} == {job}
    reached = [call["client_request_id"] for call in simulator.ledger()["calls"]]
    assert sorted(called) == sorted(reached)
    assert len(called) == 2, "a summary and the vectors"
    assert all(call.startswith(f"{job}-1-") for call in called)


@pytest.mark.django_db
def test_a_question_s_calls_name_its_request(lines: list[dict[str, Any]], simulator: Simulator, files: Path) -> None:
    mei = making.Uploader("mei", "ask", "upload")
    making.make_ready(mei.accepted("returns")["job"]["id"])
    making.work()
    simulator.reset()
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    # New to the cache of question vectors, which other runs may have filled.
    answer = mei.client.get(
        f"/v1/search?q=follow+this+{secrets.token_hex(4)}", headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    )
    assert (answer.status_code, answer.headers["X-Request-Id"]) == (200, trace)
    (call,) = [call["client_request_id"] for call in simulator.ledger()["calls"]]
    assert call.startswith(f"{trace}-0-embed_question-")
    assert [line["request_id"] for line in lines if line.get("call") == call] == [trace]


@pytest.mark.django_db
def test_neither_texts_nor_questions_nor_tokens_are_logged_also_when_it_goes_wrong(
    lines: list[dict[str, Any]], simulator: Simulator, files: Path
) -> None:
    omar = making.Uploader("omar", "upload", "ask", "produce")
    text = f"# Returns\n\nThe word is {SECRET_WORDS}.\n".encode()
    for fault in ("status:500", "nan", "error_body_200"):
        simulator.fault("chat/completions" if fault == "status:500" else "embeddings", fault)
    job = omar.upload("returns", text).json()["job"]["id"]
    for _ in range(5):
        making.make_ready(job)
        making.work()
    omar.client.get(f"/v1/search?q={SECRET_WORDS}")
    omar.client.post("/v1/answers", {"question": f"What is {SECRET_WORDS}?"}, content_type="application/json")
    sent = {"producer": "p", "event_id": "1", "type": "answer.rated", "payload": {"note": SECRET_WORDS}}
    omar.client.post("/v1/events", sent, content_type="application/json")
    omar.upload("returns", text + b"\xff\xfe")
    assert len(lines) > 10
    written = json.dumps(lines)
    assert SECRET_WORDS not in written
    token = omar.client.defaults["HTTP_AUTHORIZATION"].split()[1]
    assert token.startswith("lk_")
    assert token not in written
    assert settings.SECRET_KEY not in written


@pytest.mark.parametrize(
    "statement",
    (
        "SELECT CAST(%s AS integer)",
        "SELECT no_such_function(%s)",
        "INSERT INTO ingestion_joboutcome (job_id, generation, attempt, outcome, detail) "
        "VALUES (gen_random_uuid(), 1, NULL, 'wait', %s)",
    ),
)
@pytest.mark.django_db
def test_a_traceback_does_not_repeat_what_the_database_was_given(statement: str) -> None:
    stream = io.StringIO()
    for formatter in (JsonFormatter(), LineFormatter()):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter)
        log = logging.Logger("tried")
        log.addHandler(handler)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, [f"first line\n{SECRET_WORDS}"])
        except DatabaseError:
            log.exception("refused")
        connection.needs_rollback = False
        connection.connection.rollback()
    assert stream.getvalue().count("Traceback") >= 2
    assert "[hidden]" in stream.getvalue()
    assert SECRET_WORDS not in stream.getvalue()


@pytest.mark.parametrize(
    ("line", "hidden"),
    (
        ("token lk_abcdefghijklmnopqrstuvwxyz0123456789-_A", "lk_abc"),
        ("Authorization: Bearer sk-proj-1234", "sk-proj"),
        ("postgresql://larkfield:pass%2Fword@db:5432/x", "pass%2Fword"),
        ("AccountName=a;AccountKey=abc+/def==;Endpoint", "abc+/def"),
    ),
)
def test_what_looks_like_a_secret_is_hidden_whatever_logs_it(line: str, hidden: str) -> None:
    assert hidden not in without_secrets(line)
    record = logging.makeLogRecord({"msg": "%s", "args": (line,), "address": line})
    assert hidden not in JsonFormatter().format(record)
    assert hidden not in LineFormatter().format(record)


def test_a_line_of_production_is_one_object_and_one_of_development_one_line() -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        record = logging.makeLogRecord(
            {
                "name": "x",
                "levelname": "INFO",
                "msg": "two\nlines",
                "seconds": 0.5,
                "job": 7,
                "exc_info": sys.exc_info(),
            }
        )
    found = json.loads(JsonFormatter().format(record))
    assert (found["message"], found["seconds"], found["job"], found["level"]) == ("two\nlines", 0.5, 7, "INFO")
    assert found["at"].endswith("Z")
    assert "ValueError: odd" in found["traceback"]
    assert "\n" not in JsonFormatter().format(record)
    assert LineFormatter().format(record).splitlines()[0].endswith("job='7' seconds='0.5'")
