"""`manage.py makeversions`: later editions of the policies, as files or through the API."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ingestion.corpus import corpus_documents
from ingestion.corpus.versions import make_versions
from ingestion.management.progress import Bar
from ingestion.management.shell import ShellCommand, UsageError
from ingestion.submitting import sending
from ingestion.submitting.client import Client, Parcel, SubmitError, default_api, token_from_environment


class Command(ShellCommand):
    help = "Makes new versions of the policies with small changes, the same for the same seed."
    example = "LARKFIELD_TOKEN=… manage.py makeversions --seed 7 --count 200 --upload"
    exit_codes = {0: "all are written, or accepted", 1: "a file can't be written, or the API can't be used"}
    json_help = "one JSON object at the end"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, required=True, help="the same seed, the same texts")
        parser.add_argument("--count", type=int, required=True, help="how many versions over all documents")
        parser.add_argument("--out", help="write each to DIR/{slug}-{edition}.md")
        parser.add_argument("--upload", action="store_true", help="upload each, with LARKFIELD_TOKEN")
        parser.add_argument("--api", help="address of the API (default: this machine's PORT)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["count"] < 1:
            raise UsageError("--count must be at least 1.")
        if bool(options["out"]) == options["upload"]:
            raise UsageError("Choose one: --out DIR writes files, --upload sends them to the API.")
        if options["out"]:
            words, numbers = self._write(Path(options["out"]), options["seed"], options["count"])
        else:
            words, numbers = self._upload(options["api"] or default_api(), options["seed"], options["count"])
        if options["json"]:
            self.print_json(numbers)
        else:
            self.stdout.write(words)

    def _write(self, folder: Path, seed: int, count: int) -> tuple[str, dict[str, int]]:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with Bar("written", count) as bar:
                for done, (slug, edition, text) in enumerate(make_versions(corpus_documents(), seed=seed, count=count)):
                    (folder / f"{slug}-{edition}.md").write_bytes(text.encode())
                    bar.show(done + 1)
        except OSError as error:
            raise CommandError(f"The files can't be written: {error}.") from None
        return f"{count} versions are written to {folder}.", {"written": count}

    def _upload(self, api: str, seed: int, count: int) -> tuple[str, dict[str, int]]:
        parcels = (
            Parcel(slug, text.encode(), f"makeversions-{seed}-{slug}-{edition}")
            for slug, edition, text in make_versions(corpus_documents(), seed=seed, count=count)
        )
        try:
            with Bar("accepted", count) as bar, Client(api, token_from_environment(), bar.count_down) as client:
                sent = sending.send(client, parcels, bar)
        except SubmitError as error:
            raise CommandError(str(error)) from None
        accepted, late, replayed = len(sent.accepted), sent.refused_first, sent.replayed
        words = f"accepted {accepted}, refused-then-accepted {late}, replayed {replayed}"
        return words, {"accepted": accepted, "refused_then_accepted": late, "replayed": replayed}
