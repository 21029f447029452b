"""`manage.py backfill`: what is published gets its vectors under another embedding model, beside the old ones."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion import backfilling, standing
from ingestion.backfilling import Progress
from ingestion.management.progress import Bar
from ingestion.models import EmbeddingSpace
from ingestion.pipeline.vector_index import ensure_index

LOOK_SECONDS = 1.0
INTERRUPTED = 130  # what a shell shows after Ctrl-C
DIMENSION_MAX = 2_000


class Command(BaseCommand):
    help = (
        "Queues a job for each published version that has no vectors under this model yet, a few at a time so that "
        "uploads keep their places, and ends when none is missing (exit 0; 1: a job failed for good). "
        "Example: manage.py backfill --model embed-large --dimension 1024 && manage.py switchembedding embed-large/1024"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", required=True, help="the provider's name of the embedding model")
        parser.add_argument("--dimension", type=int, required=True, help="numbers in a vector, 1 to 2000")
        parser.add_argument("--once", action="store_true", help="queue what has room now, and end")
        parser.add_argument("--json", action="store_true", help="one JSON object at the end")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["dimension"] <= DIMENSION_MAX or not options["model"].strip():
            raise CommandError(f"--model must not be empty, --dimension is from 1 to {DIMENSION_MAX}.")
        space = EmbeddingSpace(options["model"].strip(), options["dimension"])
        if len(space.name) > 100:
            raise CommandError("The model's name is too long.")
        ensure_index(space, concurrently=True)
        try:
            found = self._fill(space, is_once=options["once"])
        except KeyboardInterrupt:
            raise CommandError("Interrupted; what is queued goes on. Run it again for the rest.", INTERRUPTED) from None
        if options["json"]:
            self.stdout.write(json.dumps({"embedding_version": space.name, **vars(found)}))
        if found.stuck:
            raise CommandError(
                f"{found.stuck} jobs failed for good: see them in the admin, mend the cause, then manage.py retryjob "
                f"--all --queue {backfilling.QUEUE} and this command again."
            )
        if not options["json"]:
            self.stdout.write(_closing(space, found))

    def _fill(self, space: EmbeddingSpace, *, is_once: bool) -> Progress:
        """Until nothing is missing, or only what can't be embedded."""
        found = backfilling.progress(space)
        with Bar(f"versions under {space.name}", found.published) as bar:
            while True:
                backfilling.feed(space)
                found = backfilling.progress(space)
                bar.show(found.complete, _note(found))
                if found.is_complete or is_once or (found.stuck and not found.under_way):
                    return found
                time.sleep(LOOK_SECONDS)


def _note(found: Progress) -> str:
    without = "" if found.is_complete or standing.live_workers(backfilling.QUEUE) else ", no worker runs"
    return f"{found.under_way} under way{without}"


def _closing(space: EmbeddingSpace, found: Progress) -> str:
    if not found.is_complete:
        return f"{found.complete} of {found.published} versions are complete, {found.under_way} jobs are under way."
    return f"All {found.published} published versions are complete: manage.py switchembedding {space.name}"
