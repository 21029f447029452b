"""Files of a folder become versions: each sent once, whatever is interrupted and repeated; a row a file.

What is published or waits as it is, is not sent again. The key names the content and the version that it follows: the
same file sent twice is one version, and one that comes back after another edition is a new one.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ingestion.submitting.client import Client, Newest, Parcel, Refused
from ingestion.submitting.folder import Found

# The API's own limit is smaller, whatever it is; such a file is not worth reading.
READ_MAX_BYTES = 1_073_741_824
# These concern the caller, not the file: the next file would fare no better.
HOPELESS = (401, 403)

Outcome = Literal["accepted", "unchanged", "refused", "published", "failed"]


@dataclass(frozen=True)
class Row:
    """What became of one file; `job` is there while it may still be followed."""

    file: str
    slug: str
    outcome: Outcome
    version: int | None = None
    job: str | None = None
    estimate_seconds: float | None = None
    detail: str = ""

    @property
    def is_refused(self) -> bool:
        return self.outcome in ("refused", "failed")


def upload(client: Client, files: Iterable[Found], *, titles_from_names: bool) -> Iterator[Row]:
    """A row for each file, in order. Raises SubmitError where the API can't be used at all."""
    for file in files:
        if file.problem:
            yield Row(file.name, file.slug, "refused", detail=file.problem)
            continue
        try:
            content = _read(file)
        except OSError as error:
            yield Row(file.name, file.slug, "refused", detail=f"it can't be read ({error.strerror or error})")
            continue
        yield _send(client, file, content, file.path.stem if titles_from_names else "")


def _read(file: Found) -> bytes:
    if file.path.stat().st_size > READ_MAX_BYTES:
        raise OSError(f"larger than {READ_MAX_BYTES} bytes")
    return file.path.read_bytes()


def _send(client: Client, file: Found, content: bytes, title: str) -> Row:
    newest = client.newest(file.slug)
    if newest is not None and newest.sha256 == hashlib.sha256(content).hexdigest():
        detail = "it waits already" if newest.job_id else "it is published already"
        return Row(file.name, file.slug, "unchanged", newest.number, newest.job_id, detail=detail)
    parcel = Parcel(
        file.slug, content, _key(file, content, title, newest), file.path.name, file.media_type, title=title
    )
    try:
        sent = client.submit(parcel)
    except Refused as error:
        if error.status in HOPELESS:
            raise
        return Row(file.name, file.slug, "refused", detail=str(error))
    detail = "sent before" if sent.is_replay else ""
    return Row(file.name, file.slug, "accepted", sent.number, sent.job_id, sent.wait_seconds, detail)


def _key(file: Found, content: bytes, title: str, newest: Newest | None) -> str:
    """The same request has the same key, also in another run: all that makes it another request is in it."""
    parts = [file.slug, file.path.name, file.media_type, title, str(newest.number if newest else 0)]
    named = "\0".join(parts).encode("utf-8", "surrogateescape") + b"\0" + content
    return f"upload-{hashlib.sha256(named).hexdigest()}"
