"""`manage.py upload`: the documents of a folder become versions, through the API."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ingestion.management.progress import Bar
from ingestion.management.shell import INTERRUPTED, ShellCommand, UsageError
from ingestion.submitting import folder, sending, uploading
from ingestion.submitting.client import Client, SubmitError, default_api, token_from_environment
from ingestion.submitting.uploading import Outcome, Row


class Command(ShellCommand):
    help = (
        f"Uploads every document below a folder ({', '.join(folder.MEDIA_TYPES)}) with LARKFIELD_TOKEN; the file's "
        "name is the slug. A refusal is obeyed until its Retry-After; run it again after an interruption: what was "
        "sent is not sent twice."
    )
    example = "LARKFIELD_TOKEN=… manage.py upload ./policies --wait"
    exit_codes = {
        0: "all are accepted or were there already (with --wait: published)",
        1: "some are refused for good or failed, each with its reason; or the API can't be used",
        INTERRUPTED: "interrupted; run it again for the rest",
    }
    json_help = "a JSON object a line and file, then one with the sums"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", help="a folder, looked through with all below it; or one file")
        parser.add_argument("--api", help="address of the API (default: this machine's PORT)")
        parser.add_argument(
            "--title-from", choices=("text", "name"), default="text",
            help="the title: what the document calls itself, or the file's name (default text)",
        )  # fmt: skip
        parser.add_argument("--wait", action="store_true", help="follow each until it is published or has failed")

    def handle(self, *args: Any, **options: Any) -> None:
        place = Path(options["folder"])
        if not place.exists():
            raise UsageError(f"There is no {place}.")
        found = folder.documents(place) if place.is_dir() or place.suffix.lower() in folder.MEDIA_TYPES else []
        if not found:
            raise UsageError(f"{place} holds no document: {', '.join(folder.MEDIA_TYPES)}.")
        self._rows: list[Row] = []
        self._is_json = options["json"]
        try:
            self._upload(found, options)
        except SubmitError as error:
            raise CommandError(f"{error} {len(self._rows)} of {len(found)} files were looked at.") from None
        except KeyboardInterrupt:
            words = f"Interrupted after {len(self._rows)} of {len(found)} files; run it again for the rest."
            raise CommandError(words, returncode=INTERRUPTED) from None
        self._close()

    def _upload(self, found: list[folder.Found], options: dict[str, Any]) -> None:
        try:
            api, token = options["api"] or default_api(), token_from_environment()
            client = Client(api, token, lambda seconds, reason: self._bar.count_down(seconds, reason))
        except SubmitError as error:
            raise UsageError(str(error)) from None
        with client:
            with Bar("sent", len(found)) as self._bar:
                self._bar.show(0)
                for row in uploading.upload(client, found, titles_from_names=options["title_from"] == "name"):
                    self._rows.append(row)
                    self._show(row)
                    self._bar.show(len(self._rows))
            if options["wait"]:
                self._follow(client)

    def _follow(self, client: Client) -> None:
        """Each row that had a job ends as published or failed."""
        waiting = {row.slug: place for place, row in enumerate(self._rows) if row.job}

        def ended(slug: str, reason: str | None) -> None:
            place = waiting[slug]
            outcome: Outcome = "published" if reason is None else "failed"
            row = replace(self._rows[place], outcome=outcome, detail=reason or "", estimate_seconds=None)
            self._rows[place] = row
            self._show(row)

        with Bar("published", len(waiting)) as self._bar:
            jobs = {slug: self._rows[place].job or "" for slug, place in waiting.items()}
            sending.await_published(client, jobs, self._bar, ended=ended)

    def _show(self, row: Row) -> None:
        if self._is_json:
            self.print_json(vars(row))
            return
        version = f" version {row.version}" if row.version else ""
        wait = f", expected in {row.estimate_seconds:.0f} s" if row.estimate_seconds is not None else ""
        told = f": {row.detail}" if row.detail else ""
        self._bar.row(self.stdout, f"{row.outcome:<9}  {row.file} → {row.slug}{version}{wait}{told}")

    def _close(self) -> None:
        sums: dict[str, int] = {}
        for row in self._rows:
            sums[row.outcome] = sums.get(row.outcome, 0) + 1
        refused = sum(row.is_refused for row in self._rows)
        if self._is_json:
            self.print_json({"files": len(self._rows), "outcomes": sums})
        words = ", ".join(f"{number} {outcome}" for outcome, number in sums.items())
        if refused:
            raise CommandError(f"{refused} of {len(self._rows)} files are not taken ({words}).")
        if not self._is_json:
            self.stdout.write(f"{len(self._rows)} files: {words}.")
