"""`manage.py estimates`: how wrong the estimates were."""

from typing import Any

from ingestion.accuracy import Accuracy, measure
from ingestion.management import tables
from ingestion.management.shell import ShellCommand

HEADINGS = ("queue", "group", "jobs", "median error s", "relative", "inside low–high")


class Command(ShellCommand):
    help = "Compares each finished job's estimate with what happened."
    example = "manage.py estimates --json"
    exit_codes = {0: "shown"}
    json_help = "one JSON object"

    def handle(self, *args: Any, **options: Any) -> None:
        found = measure()
        if options["json"]:
            self.print_json({"groups": [vars(one) for one in found]})
            return
        if found:
            tables.show(self.stdout, HEADINGS, [_row(one) for one in found], numbers=[2, 3, 4, 5])
        jobs = sum(one.jobs for one in found if one.basis is None and one.jobs_ahead is None)
        self.stdout.write(f"{jobs} finished jobs had an estimate." if jobs else "No job with an estimate has finished.")


def _row(one: Accuracy) -> tuple[str, ...]:
    return (
        one.queue, _group(one), str(one.jobs), f"{one.error_seconds:.1f}", f"{one.error_relative:.1%}",
        f"{one.inside:.1%}",
    )  # fmt: skip


def _group(one: Accuracy) -> str:
    if one.basis is not None:
        return f"basis {one.basis or 'none'}"
    return "all" if one.jobs_ahead is None else f"{one.jobs_ahead} jobs ahead"
