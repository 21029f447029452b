"""`manage.py createcaller`: a caller and its token."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ingestion import callers
from ingestion.management.shell import ShellCommand, UsageError
from ingestion.models.callers import RIGHTS

DEFAULT_RIGHTS = "upload,ask"
LIMIT_MAX = 1_000_000


class Command(ShellCommand):
    # The token alone is what a program reads, so there is no --json.
    help = "Makes a caller and prints its token once, alone on standard output."
    example = "TOKEN=$(manage.py createcaller helpdesk-eu --can ask,produce)"
    exit_codes = {0: "made, the token is printed", 1: "the name is taken, or with --rotate unknown"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"1 to {callers.NAME_MAX} characters")
        parser.add_argument(
            "--can", help=f"rights, separated by commas: {', '.join(RIGHTS)} (default {DEFAULT_RIGHTS})"
        )
        parser.add_argument("--uploads-per-minute", type=int, help="a limit of its own (default UPLOADS_PER_MINUTE)")
        parser.add_argument("--rotate", action="store_true", help="replace the token of a caller that exists")

    def handle(self, *args: Any, **options: Any) -> None:
        name, limit, given = options["name"], options["uploads_per_minute"], options["can"]
        if limit is not None and not 1 <= limit <= LIMIT_MAX:
            raise UsageError(f"--uploads-per-minute must be from 1 to {LIMIT_MAX}.")
        try:
            if options["rotate"]:
                token = callers.rotate(name, None if given is None else _words(given), limit)
            else:
                token = callers.create(name, _words(DEFAULT_RIGHTS if given is None else given), limit)
        except callers.CallerError as error:
            raise CommandError(str(error)) from None
        verb = "has a new token" if options["rotate"] else "is made"
        self.stderr.write(f"The caller {name.strip()!r} {verb}; the token is shown this once.", self.style.NOTICE)
        self.stdout.write(token)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
