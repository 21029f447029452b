"""`manage.py capacity`: what limits the product first, and what follows from it."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion import capacity

# As many as `make run` starts.
API_PROCESSES = 2


class Command(BaseCommand):
    help = (
        "Shows each limit in jobs a minute with its arithmetic, the first one, the honest bound and the connections. "
        "Example: manage.py capacity --workers 4"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--api-processes", type=int, default=API_PROCESSES, help="of the WSGI server (default 2)")
        parser.add_argument("--workers", type=int, help="as if so many ran (default: those that are live)")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["api_processes"] < 1 or (options["workers"] is not None and options["workers"] < 1):
            raise CommandError("--api-processes and --workers must be at least 1.")
        found = capacity.compute(api_processes=options["api_processes"], workers=options["workers"])
        if options["json"]:
            self.stdout.write(json.dumps(found.numbers()))
            return
        for limit in found.limits:
            self.stdout.write(f"{limit.name:<17} {limit.jobs_per_minute:8.1f} jobs a minute = {limit.arithmetic}")
        bound = (
            "no wait is promised" if found.honest_bound is None else f"{found.honest_bound} = {found.bound_arithmetic}"
        )
        self.stdout.write(f"largest honest DOCUMENTS_QUEUE_MAX: {bound}; configured {found.configured_bound}")
        self.stdout.write(
            f"connections: {found.connections} = {found.connections_arithmetic}; "
            f"the server allows {found.max_connections}"
        )
        for warning in found.warnings:
            self.stdout.write(f"WARNING {warning}")
        self.stdout.write(f"First limit: {found.first.name}, {found.first.jobs_per_minute:.1f} jobs a minute.")
