"""`manage.py capacity`: what limits the product first, and what follows from it."""

from argparse import ArgumentParser
from typing import Any

from ingestion import capacity
from ingestion.management import tables
from ingestion.management.shell import ShellCommand, UsageError

# As many as `make run` starts.
API_PROCESSES = 2


class Command(ShellCommand):
    help = "Shows each limit in jobs a minute with its arithmetic, the first one, the honest bound and the connections."
    example = "manage.py capacity --workers 4"
    exit_codes = {0: "shown, with warnings where there are any"}
    json_help = "one JSON object"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--api-processes", type=int, default=API_PROCESSES, help="of the WSGI server (default 2)")
        parser.add_argument("--workers", type=int, help="as if so many ran (default: those that are live)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["api_processes"] < 1 or (options["workers"] is not None and options["workers"] < 1):
            raise UsageError("--api-processes and --workers must be at least 1.")
        found = capacity.compute(api_processes=options["api_processes"], workers=options["workers"])
        if options["json"]:
            self.print_json(found.numbers())
            return
        rows = [(limit.name, f"{limit.jobs_per_minute:.1f}", limit.arithmetic) for limit in found.limits]
        tables.show(self.stdout, ("limit", "jobs a minute", "arithmetic"), rows, numbers=[1])
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
