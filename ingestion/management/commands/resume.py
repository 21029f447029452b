"""`manage.py resume`: a drained queue accepts again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion import draining


class Command(BaseCommand):
    help = "Lets a drained queue accept again. Example: manage.py resume documents"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="documents or events")

    def handle(self, *args: Any, **options: Any) -> None:
        queue = options["queue"]
        try:
            draining.check_queue(queue)
        except draining.UnknownQueue as error:
            raise CommandError(str(error)) from None
        changed = draining.resume_admission(queue)
        self.stdout.write(f"The queue '{queue}' accepts{' again' if changed else '; it was not draining'}.")
