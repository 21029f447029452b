"""`manage.py loadcorpus`: the project's policies are published, through the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingestion.corpus import corpus_documents
from ingestion.management.progress import Bar
from ingestion.submitting import sending
from ingestion.submitting.client import Client, SubmitError, default_api, token_from_environment


class Command(BaseCommand):
    help = (
        "Uploads the policies that are not published yet, with LARKFIELD_TOKEN, and waits for them. "
        "Example: LARKFIELD_TOKEN=… manage.py loadcorpus --api http://127.0.0.1:8000"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--api", help="address of the API (default: this machine's PORT)")
        parser.add_argument("--no-wait", action="store_true", help="return when all are accepted")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._load(options["api"] or default_api(), is_waiting=not options["no_wait"])
        except SubmitError as error:
            raise CommandError(str(error)) from None

    def _load(self, api: str, *, is_waiting: bool) -> None:
        total = len(corpus_documents())
        with Bar("published", total) as bar, Client(api, token_from_environment(), bar.count_down) as client:
            missing = sending.missing_policies(client)
            if missing.published == total:
                self.stdout.write(f"{total} documents are already published.")
                return
            # Not shown as published: the bar counts those alone, and fills while the last are still sent.
            sent = sending.send(client, missing.parcels, _Sending(bar, missing.published, len(missing.parcels)))
            jobs = {**missing.waiting, **{one.slug: one.job_id for one in sent.accepted}}
            if not is_waiting:
                self.stdout.write(f"{len(sent.accepted)} documents are accepted, {len(jobs)} wait.")
                return
            failures = sending.await_published(client, jobs, bar, missing.published)
        for slug, reason in failures.items():
            self.stderr.write(f"{slug}: {reason}")
        if failures:
            raise CommandError(f"{len(failures)} of {total} documents are not published.")
        self.stdout.write(f"{total} documents are published.")


class _Sending:
    """Shows uploads as a note beside the number of published ones."""

    def __init__(self, bar: Bar, published: int, parcels: int) -> None:
        self._bar, self._published, self._parcels = bar, published, parcels

    def show(self, done: int, note: str = "") -> None:
        self._bar.show(self._published, f"sent {done} of {self._parcels}")
