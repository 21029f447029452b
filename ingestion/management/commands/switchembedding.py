"""`manage.py switchembedding`: search and new uploads use other vectors; without a name it shows what there is."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion import backfilling
from ingestion.models import EmbeddingSpace, embedding_space


class Command(BaseCommand):
    help = (
        "Switches search and new uploads to an embedding version that is complete, or back, in every process at once "
        "(exit 1: it is not complete). Without a version it shows how complete each is. "
        "Example: manage.py switchembedding embed-large/1024"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("version", nargs="?", help="MODEL/DIMENSION, as the list shows it")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["version"] is None:
            self._show(is_json=options["json"])
            return
        try:
            space = EmbeddingSpace.named(options["version"])
            before = backfilling.switch(space)
        except (ValueError, backfilling.Incomplete) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps({"embedding_version": space.name, "before": before}))
            return
        back = "" if before == space.name else f" manage.py switchembedding {before} goes back."
        self.stdout.write(f"Search and new uploads use {space.name}.{back}")

    def _show(self, *, is_json: bool) -> None:
        used = embedding_space().name
        found = {name: backfilling.progress(EmbeddingSpace.named(name)) for name in backfilling.spaces()}
        if is_json:
            rows = [{"embedding_version": name, "is_used": name == used, **vars(one)} for name, one in found.items()]
            self.stdout.write(json.dumps({"embedding_versions": rows}))
            return
        for name, one in found.items():
            mark = "used" if name == used else ""
            self.stdout.write(f"{name:<40} {one.complete:>6} of {one.published} versions  {mark}".rstrip())
