"""`manage.py drain`: a queue accepts nothing new, and the command ends when it is empty."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ingestion import draining, standing
from ingestion.management.progress import Bar
from ingestion.management.shell import INTERRUPTED, ShellCommand, UsageError

LOOK_SECONDS = 0.5


class Command(ShellCommand):
    help = "Pauses admission to a queue (callers get 503 draining) and waits until it is empty."
    example = "manage.py drain documents && manage.py resume documents"
    exit_codes = {
        0: "the queue is empty and accepts nothing",
        1: "not empty within --timeout; it still drains",
        INTERRUPTED: "interrupted; it still drains",
    }
    json_help = "one JSON object at the end"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="documents or events")
        parser.add_argument("--timeout", type=float, help="seconds to wait (default: until it is empty)")

    def handle(self, *args: Any, **options: Any) -> None:
        queue, timeout = options["queue"], options["timeout"]
        if timeout is not None and not timeout >= 0:
            raise UsageError("--timeout must not be negative.")
        try:
            draining.check_queue(queue)
        except draining.UnknownQueue as error:
            raise UsageError(str(error)) from None
        draining.pause_admission(queue)
        end = float("inf") if timeout is None else time.monotonic() + timeout
        try:
            left = self._wait(queue, end)
        except KeyboardInterrupt:
            left = standing.depth_of(queue).jobs
            raise CommandError(f"Interrupted. {_still(queue, left)}", returncode=INTERRUPTED) from None
        if left:
            raise CommandError(f"Not empty after {timeout:g} s. {_still(queue, left)}")
        if options["json"]:
            self.print_json({"queue": queue, "draining": True, "left": left})
            return
        self.stdout.write(f"The queue '{queue}' is empty and accepts nothing; manage.py resume {queue} ends that.")

    def _wait(self, queue: str, end: float) -> int:
        """How many unfinished jobs are left: 0, unless the time is over."""
        first = standing.depth_of(queue).jobs
        with Bar(f"{queue} finished", first) as bar:
            while True:
                left = standing.depth_of(queue).jobs
                bar.show(first - left, f"{left} left")
                if not left or time.monotonic() >= end:
                    return left
                time.sleep(max(0.0, min(LOOK_SECONDS, end - time.monotonic())))


def _still(queue: str, left: int) -> str:
    return f"The queue '{queue}' still drains, {left} jobs are left; manage.py resume {queue} lets it accept again."
