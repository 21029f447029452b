"""`manage.py prune`: what is older than HISTORY_DAYS and settled goes, in small steps."""

from argparse import ArgumentParser
from typing import Any

from ingestion import pruning
from ingestion.management.shell import ShellCommand


class Command(ShellCommand):
    help = "Removes expired keys, old history of settled work, and files without a version. Safe at any time."
    example = "manage.py prune --dry-run"
    exit_codes = {0: "removed, or counted"}
    json_help = "one JSON object"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count only")

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry = options["dry_run"]
        removed = {}
        # A line as soon as it is done: each step may take a while.
        for what, number in pruning.prune(is_dry=is_dry):
            removed[what] = number
            if not options["json"]:
                self.stdout.write(f"{number:>9}  {what}")
        total = sum(removed.values())
        if options["json"]:
            self.print_json({"dry_run": is_dry, "removed": removed, "total": total})
        else:
            self.stdout.write(f"{total} would be removed." if is_dry else f"{total} removed.")
