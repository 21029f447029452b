"""`manage.py estimates`: how wrong the estimates were."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ingestion.accuracy import Accuracy, measure


class Command(BaseCommand):
    help = "Compares each finished job's estimate with what happened. Example: manage.py estimates --json"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        found = measure()
        if options["json"]:
            self.stdout.write(json.dumps({"groups": [vars(one) for one in found]}))
            return
        for one in found:
            self.stdout.write(
                f"{one.queue:<10} {_group(one):<22} {one.jobs:>6} jobs  median error {one.error_seconds:8.1f} s "
                f"({one.error_relative:6.1%})  inside low–high {one.inside:6.1%}"
            )
        jobs = sum(one.jobs for one in found if one.basis is None and one.jobs_ahead is None)
        self.stdout.write(f"{jobs} finished jobs had an estimate." if jobs else "No job with an estimate has finished.")


def _group(one: Accuracy) -> str:
    if one.basis is not None:
        return f"basis {one.basis or 'none'}"
    return "all" if one.jobs_ahead is None else f"{one.jobs_ahead} jobs ahead"
