"""`manage.py resume`: a drained queue accepts again."""

from argparse import ArgumentParser
from typing import Any

from ingestion import draining
from ingestion.management.shell import ShellCommand, UsageError


class Command(ShellCommand):
    help = "Lets a drained queue accept again."
    example = "manage.py resume documents"
    exit_codes = {0: "it accepts, also where it was not draining"}
    json_help = "one JSON object"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="documents or events")

    def handle(self, *args: Any, **options: Any) -> None:
        queue = options["queue"]
        try:
            draining.check_queue(queue)
        except draining.UnknownQueue as error:
            raise UsageError(str(error)) from None
        changed = draining.resume_admission(queue)
        if options["json"]:
            self.print_json({"queue": queue, "draining": False, "changed": changed})
            return
        self.stdout.write(f"The queue '{queue}' accepts{' again' if changed else '; it was not draining'}.")
