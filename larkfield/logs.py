"""How a log line looks: one JSON object in production, readable in development; both carry the request's and job's id.

What must not be read by whoever reads logs is taken out here, whatever put it in: tokens, keys, passwords in addresses,
and the parts of a database's error that repeat what was to be stored.
"""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from ingestion.traces import job_id, request_id

# What every LogRecord has; anything else came in through `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

MASK = "[hidden]"
_SECRETS = (
    re.compile(r"(?<![A-Za-z0-9])lk_[A-Za-z0-9_-]{16,}"),
    re.compile(r"(?i)(?<=bearer )[^\s'\",]+"),
    re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"),
    re.compile(r"(?i)(?<=accountkey=)[^;\s'\"]+"),
)
# PostgreSQL repeats rows in DETAIL and CONTEXT, the statement with what is bound into it in LINE, and a value that it
# can't read; each may have lines of its own, so that all is hidden up to the next traceback.
_REPEATS = re.compile(
    r"(^(?:DETAIL|CONTEXT|LINE \d+): |invalid input (?:syntax|value) for [^:\n]*: )"
    r".*?(?=^\n(?:The above exception|During handling)|\Z)",
    re.MULTILINE | re.DOTALL,
)


def without_secrets(text: str) -> str:
    """The text with each thing that looks like a secret hidden."""
    for secret in _SECRETS:
        text = secret.sub(MASK, text)
    return text


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What the line says beside its message; the ids of the request and job at hand unless it names its own."""
    fields = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    for name, held in (("request_id", request_id), ("job", job_id)):
        if identity := held.get():
            fields.setdefault(name, identity)
    return fields


class _WithoutRepeats(logging.Formatter):
    """Tracebacks without the lines in which the database repeats what it was given."""

    def formatException(self, ei: Any) -> str:
        return _REPEATS.sub(rf"\1{MASK}\n", super().formatException(ei))


class LineFormatter(_WithoutRepeats):
    """`time level logger message key=value …` on one line; line breaks in values are escaped."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        tail = "".join(f" {key}={str(value)!r}" for key, value in sorted(fields_of(record).items()))
        return super().formatMessage(record).replace("\n", "\\n") + tail

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class JsonFormatter(_WithoutRepeats):
    """One JSON object on one line: at, level, logger, message, the line's own fields, and a traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        for key, value in fields_of(record).items():
            # Numbers stay numbers, so that they can be compared.
            line.setdefault(key, value if isinstance(value, bool | int | float) else str(value))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return without_secrets(json.dumps(line))
