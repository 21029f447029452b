"""`manage.py makeversions`: later editions of the policies, as files or through the API."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion.corpus import corpus_documents
from ingestion.corpus.versions import make_versions
from ingestion.management.progress import Bar
from ingestion.submitting import sending
from ingestion.submitting.client import Client, Parcel, SubmitError, default_api, token_from_environment


class Command(BaseCommand):
    help = (
        "Makes new versions of the policies with small changes, the same for the same seed. "
        "Example: LARKFIELD_TOKEN=… manage.py makeversions --seed 7 --count 200 --upload"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, required=True, help="the same seed, the same texts")
        parser.add_argument("--count", type=int, required=True, help="how many versions over all documents")
        parser.add_argument("--out", help="write each to DIR/{slug}-{edition}.md")
        parser.add_argument("--upload", action="store_true", help="upload each, with LARKFIELD_TOKEN")
        parser.add_argument("--api", help="address of the API (default: this machine's PORT)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["count"] < 1:
            raise CommandError("--count must be at least 1.")
        if bool(options["out"]) == options["upload"]:
            raise CommandError("Choose one: --out DIR writes files, --upload sends them to the API.")
        if options["out"]:
            self._write(Path(options["out"]), options["seed"], options["count"])
        else:
            self._upload(options["api"] or default_api(), options["seed"], options["count"])

    def _write(self, folder: Path, seed: int, count: int) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with Bar("written", count) as bar:
                for done, (slug, edition, text) in enumerate(make_versions(corpus_documents(), seed=seed, count=count)):
                    (folder / f"{slug}-{edition}.md").write_bytes(text.encode())
                    bar.show(done + 1)
        except OSError as error:
            raise CommandError(f"The files can't be written: {error}.") from None
        self.stdout.write(f"{count} versions are written to {folder}.")

    def _upload(self, api: str, seed: int, count: int) -> None:
        parcels = (
            Parcel(slug, text.encode(), f"makeversions-{seed}-{slug}-{edition}")
            for slug, edition, text in make_versions(corpus_documents(), seed=seed, count=count)
        )
        try:
            with Bar("accepted", count) as bar, Client(api, token_from_environment(), bar.count_down) as client:
                sent = sending.send(client, parcels, bar)
        except SubmitError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"accepted {len(sent.accepted)}, refused-then-accepted {sent.refused_first}, replayed {sent.replayed}"
        )
