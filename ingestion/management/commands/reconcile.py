"""`manage.py reconcile`: does every invariant hold on the live data?"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion.reconciling import SHOWN_MAX, Finding, check_all


class Command(BaseCommand):
    help = (
        "Checks every invariant on the live data, also while workers run; exit code 0: all hold, 1: one is broken. "
        "Example: manage.py reconcile --json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = check_all()
        broken = [one for one in findings if not one.holds]
        if options["json"]:
            self.stdout.write(json.dumps({"holds": not broken, "rules": [vars(one) for one in findings]}))
        else:
            for one in findings:
                self._show(one)
        if broken:
            raise CommandError(f"{len(broken)} of {len(findings)} rules are broken.")
        if not options["json"]:
            self.stdout.write(f"All {len(findings)} rules hold.")

    def _show(self, one: Finding) -> None:
        self.stdout.write(f"{'holds ' if one.holds else 'BROKEN'} {one.invariant} {one.name}: {one.sentence}")
        if not one.holds:
            more = f" and {one.broken - SHOWN_MAX} more" if one.broken > SHOWN_MAX else ""
            self.stdout.write(f"       {one.broken}: {', '.join(one.ids)}{more}")
