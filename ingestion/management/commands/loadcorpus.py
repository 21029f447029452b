"""`manage.py loadcorpus`: the project's policies are published, through the API."""

from argparse import ArgumentParser
from dataclasses import dataclass, field
from typing import Any

from django.core.management.base import CommandError

from ingestion.corpus import corpus_documents
from ingestion.management.progress import Bar
from ingestion.management.shell import ShellCommand
from ingestion.submitting import sending
from ingestion.submitting.client import Client, SubmitError, default_api, token_from_environment


@dataclass
class _Load:
    """What became of the policies; `words` is the closing line where none has failed."""

    documents: int
    accepted: int = 0
    waiting: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    words: str = ""


class Command(ShellCommand):
    help = "Uploads the policies that are not published yet, with LARKFIELD_TOKEN, and waits for them."
    example = "LARKFIELD_TOKEN=… manage.py loadcorpus --api http://127.0.0.1:8000"
    exit_codes = {
        0: "all are published (with --no-wait: accepted)",
        1: "some are not, each named with its reason; or the API can't be used",
    }
    json_help = "one JSON object at the end"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--api", help="address of the API (default: this machine's PORT)")
        parser.add_argument("--no-wait", action="store_true", help="return when all are accepted")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            load = self._load(options["api"] or default_api(), is_waiting=not options["no_wait"])
        except SubmitError as error:
            raise CommandError(str(error)) from None
        for slug, reason in load.failures.items():
            self.stderr.write(f"{slug}: {reason}")
        if options["json"]:
            self.print_json({name: value for name, value in vars(load).items() if name != "words"})
        if load.failures:
            raise CommandError(f"{len(load.failures)} of {load.documents} documents are not published.")
        if not options["json"]:
            self.stdout.write(load.words)

    def _load(self, api: str, *, is_waiting: bool) -> _Load:
        load = _Load(total := len(corpus_documents()))
        with Bar("published", total) as bar, Client(api, token_from_environment(), bar.count_down) as client:
            missing = sending.missing_policies(client)
            if missing.published == total:
                load.words = f"{total} documents are already published."
                return load
            # Not shown as published: the bar counts those alone, and fills while the last are still sent.
            sent = sending.send(client, missing.parcels, _Sending(bar, missing.published, len(missing.parcels)))
            jobs = {**missing.waiting, **{one.slug: one.job_id for one in sent.accepted}}
            load.accepted, load.waiting = len(sent.accepted), len(jobs)
            if not is_waiting:
                load.words = f"{load.accepted} documents are accepted, {load.waiting} wait."
                return load
            load.failures = sending.await_published(client, jobs, bar, missing.published)
            load.waiting = 0
        load.words = f"{total} documents are published."
        return load


class _Sending:
    """Shows uploads as a note beside the number of published ones."""

    def __init__(self, bar: Bar, published: int, parcels: int) -> None:
        self._bar, self._published, self._parcels = bar, published, parcels

    def show(self, done: int, note: str = "") -> None:
        self._bar.show(self._published, f"sent {done} of {self._parcels}")
