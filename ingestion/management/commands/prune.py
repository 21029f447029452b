"""`manage.py prune`: what is older than HISTORY_DAYS and settled goes, in small steps."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ingestion import pruning


class Command(BaseCommand):
    help = (
        "Removes expired idempotency keys, old history of settled work and files without a version. Safe at any time. "
        "Example: manage.py prune --dry-run"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count only")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry = options["dry_run"]
        removed = {}
        for what, number in pruning.prune(is_dry=is_dry):
            removed[what] = number
            if not options["json"]:
                self.stdout.write(f"{number:>9}  {what}")
        total = sum(removed.values())
        if options["json"]:
            self.stdout.write(json.dumps({"dry_run": is_dry, "removed": removed, "total": total}))
        else:
            self.stdout.write(f"{total} would be removed." if is_dry else f"{total} removed.")
