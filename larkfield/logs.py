"""How a log line looks, and the request id that it carries."""

import logging
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")

# What every LogRecord has; anything else came in through `extra` and is printed as key=value.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """`time level logger message key=value …` on one line; line breaks in values are escaped."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if identity := request_id.get():
            fields.setdefault("request_id", identity)
        tail = "".join(f" {key}={str(value)!r}" for key, value in sorted(fields.items()))
        return super().formatMessage(record).replace("\n", "\\n") + tail
