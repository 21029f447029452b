"""`manage.py retryjob`: a dead letter is queued again, or all of a queue."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from ingestion import reviving
from ingestion.draining import UnknownQueue, check_queue
from ingestion.management.progress import Bar
from ingestion.queue.controlling import QueueFull


class Command(BaseCommand):
    help = (
        "Queues a dead letter or failed job again with a fresh budget; with --all every dead letter of a queue. "
        "Example: manage.py retryjob --all --queue documents"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job_id", nargs="?", help="a job's id")
        parser.add_argument("--all", action="store_true", help="all dead letters of --queue")
        parser.add_argument("--queue", help="documents or events")

    def handle(self, *args: Any, **options: Any) -> None:
        job_id, queue = options["job_id"], options["queue"]
        if options["all"] and queue and not job_id:
            self._retry_all(queue)
        elif job_id and not options["all"] and not queue:
            self._retry_one(job_id)
        else:
            raise CommandError("Give a job's id, or --all with --queue.")

    def _retry_one(self, text: str) -> None:
        try:
            job_id = UUID(text)
        except ValueError:
            raise CommandError(f"{text!r} is no job's id.") from None
        try:
            reviving.revive(job_id)
        except reviving.NotRevivable as error:
            raise CommandError(str(error)) from None
        except QueueFull as full:
            raise CommandError(f"The queue '{full}' is full or draining; the job stays as it is.") from None
        self.stdout.write(f"Job {job_id} is queued again.")

    def _retry_all(self, queue: str) -> None:
        try:
            check_queue(queue)
        except UnknownQueue as error:
            raise CommandError(str(error)) from None
        found = reviving.dead_letters(queue)
        seen = queued = 0
        try:
            with Bar("retried", len(found)) as bar:
                for refusal in reviving.revive_each(found):
                    seen += 1
                    queued += refusal is None
                    bar.show(seen)
                    if refusal:
                        self.stderr.write(str(refusal))
        except QueueFull:
            raise CommandError(
                f"The queue '{queue}' is full or draining: {queued} queued again, {len(found) - seen} left. "
                "Repeat the command when there is room."
            ) from None
        self.stdout.write(f"{queued} of {len(found)} dead letters are queued again.")
