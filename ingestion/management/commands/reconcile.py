"""`manage.py reconcile`: does every invariant hold on the live data?"""

from typing import Any

from django.core.management.base import CommandError

from ingestion.management import tables
from ingestion.management.shell import ShellCommand
from ingestion.reconciling import SHOWN_MAX, Finding, check_all


class Command(ShellCommand):
    help = "Checks every invariant on the live data, also while workers run."
    example = "manage.py reconcile --json"
    exit_codes = {0: "all hold", 1: "one is broken, named with its ids"}
    json_help = "one JSON object"

    def handle(self, *args: Any, **options: Any) -> None:
        findings = check_all()
        broken = [one for one in findings if not one.holds]
        if options["json"]:
            self.print_json({"holds": not broken, "rules": [vars(one) for one in findings]})
        else:
            self._show(findings)
        if broken:
            raise CommandError(f"{len(broken)} of {len(findings)} rules are broken.")
        if not options["json"]:
            self.stdout.write(f"All {len(findings)} rules hold.")

    def _show(self, findings: list[Finding]) -> None:
        rows = [("holds" if one.holds else "BROKEN", str(one.invariant), one.name, one.sentence) for one in findings]
        tables.show(self.stdout, ("", "invariant", "rule", "says"), rows, numbers=[1])
        for one in findings:
            if not one.holds:
                more = f" and {one.broken - SHOWN_MAX} more" if one.broken > SHOWN_MAX else ""
                self.stdout.write(f"BROKEN {one.name}, {one.broken}: {', '.join(one.ids)}{more}")
