"""`manage.py queuewatch`: one line a second for each queue."""

import os
import sys
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.db import InterfaceError, OperationalError

from ingestion import connections, draining, standing
from ingestion.management.shell import ShellCommand, UsageError

EVERY_SECONDS = 1.0
COLUMNS = (
    ("queued", "queued"),
    ("ready", "ready"),
    ("running", "running"),
    ("dead_letters", "dead letters"),
    ("oldest_age_seconds", "oldest s"),
    ("pace_per_minute", "pace/min"),
    ("workers", "workers"),
)


class Command(ShellCommand):
    help = "Shows each queue once a second until Ctrl-C."
    example = "manage.py queuewatch --seconds 60 --json"
    exit_codes = {0: "the time is over, or Ctrl-C; a database that does not answer is said in its line"}
    json_help = "JSON lines with the keys of GET /v1/queue"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, help="end after this time (default: never)")
        parser.add_argument("--queue", help="this queue alone")

    def handle(self, *args: Any, **options: Any) -> None:
        seconds, queue = options["seconds"], options["queue"]
        if seconds is not None and not seconds > 0:
            raise UsageError("--seconds must be above 0.")
        try:
            queues = [draining.check_queue(queue)] if queue else draining.queues()
        except draining.UnknownQueue as error:
            raise UsageError(str(error)) from None
        try:
            self._watch(queues, seconds, is_json=options["json"])
        except KeyboardInterrupt:
            return
        except BrokenPipeError:
            # Whoever read has seen enough; Python must not complain again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _watch(self, queues: list[str], seconds: float | None, *, is_json: bool) -> None:
        start = time.monotonic()
        looks = 0
        while seconds is None or looks * EVERY_SECONDS < seconds:
            if looks:
                # Against the start, so that the lines keep to the second.
                time.sleep(max(0.0, start + looks * EVERY_SECONDS - time.monotonic()))
            for queue in queues:
                self._show(queue, is_json=is_json)
            self.stdout.flush()
            looks += 1

    def _show(self, queue: str, *, is_json: bool) -> None:
        now = datetime.now(UTC)
        try:
            numbers = standing.queue_numbers(queue)
        except (OperationalError, InterfaceError) as error:
            connections.release()
            self.stderr.write(f"{now:%H:%M:%S} the database does not answer ({type(error).__name__})")
            return
        if is_json:
            at = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self.print_json({"at": at, "queue": queue, **numbers})
            return
        shown = "  ".join(f"{word} {numbers[key]:>5.0f}" for key, word in COLUMNS)
        self.stdout.write(f"{now:%H:%M:%S}  {queue:<9}  {shown}  {'accepting' if numbers['accepting'] else 'REFUSING'}")
