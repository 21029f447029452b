"""The front door: an upload is saved with its job in one transaction, or nothing of it is.

Order of the checks: what is wrong with the request itself, then a replay, then the caller's limit, then the bound.
A clearly full queue is refused before the body is read; the exact check comes inside the transaction.
Lock order: idempotency key, document, depth. The depth's row comes last, because all admissions meet there.
"""

import hashlib
import logging
import math
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, transaction

from ingestion import estimates, idempotency, limits, promises, standing, traces, versioning
from ingestion.estimates import Estimate
from ingestion.models import Caller, Document
from ingestion.naming import storage_key
from ingestion.problems import Problem
from ingestion.queue import controlling
from ingestion.queue.controlling import NewJob, QueueFull
from ingestion.versioning import Added

log = logging.getLogger("ingestion.admission")

# A summary's share of a job's provider tokens: its input is clipped, its output short.
SUMMARY_INPUT_TOKENS_MAX = 6_000
SUMMARY_OUTPUT_TOKENS = 150
# English text under cl100k_base; counting exactly would cost more than the difference matters for a bound.
CHARACTERS_PER_TOKEN = 4
# Where nothing is promised, a Retry-After still ends somewhere.
RETRY_MAX_SECONDS = 3_600.0


@dataclass(frozen=True)
class Upload:
    """A checked upload: `characters` of text, counted or estimated; `title` is None where the caller named none."""

    slug: str
    title: str | None
    content: bytes
    characters: int
    found_title: str | None
    media_type: str
    charset: str | None
    file_name: str
    if_match: int | None
    key: str | None
    fingerprint: str
    request_id: str = ""


@dataclass(frozen=True)
class Admitted:
    """The 202's body, and whether it is a replay."""

    answer: dict[str, Any]
    job_id: str
    is_replay: bool


def document_units(characters: int) -> int:
    """Work units of a document of so many characters: the estimated provider tokens of its embeddings and summary."""
    tokens = math.ceil(characters / CHARACTERS_PER_TOKEN)
    return max(1, tokens + min(tokens, SUMMARY_INPUT_TOKENS_MAX) + SUMMARY_OUTPUT_TOKENS)


def refuse_early(caller: Caller, queue: str, key: str | None) -> None:
    """Raises the 503 of a queue that is clearly full or draining, without a lock and before a body is read.

    A key that is known may be a replay, which is answered also now; so the depth is read first: whoever sees the
    depth that an admission left sees its key too.
    """
    depth = standing.depth_of(queue)
    bound = controlling.bound_of(queue)
    is_full = depth.jobs >= bound.jobs or depth.units >= bound.units or depth.bytes >= bound.bytes
    if not (is_full or depth.is_draining) or (key is not None and idempotency.is_known(caller, key)):
        return
    raise refusal(queue, is_draining=depth.is_draining)


def refusal(queue: str, *, is_draining: bool = False) -> Problem:
    """The 503 of this moment, with a Retry-After from the measured pace and the refusals ahead."""
    if is_draining:
        return Problem(
            "draining", f"Admission to '{queue}' is paused by an operator; nothing was saved.", {"Retry-After": "30"}
        )
    most = settings.PROMISED_WAIT_SECONDS or RETRY_MAX_SECONDS
    place = standing.recent_place_seconds(queue)
    wait = promises.next_place(queue, place * estimates.RETRY_MARGIN, most / (1 + estimates.JITTER))
    seconds = max(1, math.ceil(min(most, estimates.with_jitter(max(wait, place)))))
    return Problem(
        "queue_full",
        f"The queue '{queue}' has reached its bound; nothing was saved. Send the same request again in {seconds} s.",
        {"Retry-After": str(seconds)},
    )


@traces.step("admit")
def admit_upload(caller: Caller, upload: Upload) -> Admitted:
    """The version, its file and its job are saved, or a Problem says why nothing is."""
    if upload.key is not None and (known := idempotency.find(caller, upload.key, upload.fingerprint)):
        return _replay(known)
    _check_latest(upload)
    units = document_units(upload.characters)
    _check_possible(units, len(upload.content))
    try:
        return _save(caller, upload, units)
    except idempotency.Known as known:
        # Another copy of the request committed while this one waited for the key: its answer is ours.
        return _replay(known.answer(upload.fingerprint))
    except _ShareFilled:
        raise _share_refusal(caller, "documents") from None
    except QueueFull:
        raise refusal("documents", is_draining=standing.depth_of("documents").is_draining) from None


def _save(caller: Caller, upload: Upload, units: int) -> Admitted:
    """Saves all in one transaction; whatever ends it otherwise, the token is given back and the file is gone."""
    with ExitStack() as undo:
        with transaction.atomic():
            if upload.key is not None:
                # Before the token: a copy that waits here is a replay, which costs none.
                idempotency.claim(caller, upload.key, upload.fingerprint)
            limits.take(caller, "uploads")
            undo.callback(limits.give_back, caller, "uploads")
            place = standing.foresee("documents", caller, units)
            _check_promise(place)
            key = storage_key(upload.slug)
            default_storage.save(key, ContentFile(upload.content))
            stored = undo.enter_context(_Stored(key))
            admitted = _save_rows(caller, upload, units, place, key)
            stored.is_committing = True
        undo.pop_all()
    return admitted


class _Stored:
    """The file of an upload, gone again when the upload was not saved.

    A connection that breaks while the transaction commits leaves open whether it did: the version may be there and
    needs its file. A file that was kept for nothing `prune` removes, as it does after a crash before the commit.
    """

    def __init__(self, key: str) -> None:
        self.key, self.is_committing = key, False

    def __enter__(self) -> "_Stored":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not (self.is_committing and isinstance(error, OperationalError | InterfaceError)):
            default_storage.delete(self.key)


def _replay(known: dict[str, Any]) -> Admitted:
    return Admitted(known, known["job"]["id"], is_replay=True)


def _check_latest(upload: Upload) -> None:
    """If-Match names the latest version's number, 0 or nothing where there is none."""
    if upload.if_match is None:
        return
    found = Document.objects.filter(slug=upload.slug, deleted_at=None).first()
    latest = found.latest_number if found else 0
    if upload.if_match != latest:
        raise Problem("precondition_failed", f"The latest version is {latest}, If-Match says {upload.if_match}.")


def _check_possible(units: int, size: int) -> None:
    """A document that no empty queue could hold is too large, not too early."""
    bound = controlling.bound_of("documents")
    if units > bound.units or size > bound.bytes:
        raise Problem(
            "too_large",
            f"The document needs {units} work units and {size} bytes; the queue holds at most {bound.units} and "
            f"{bound.bytes}. Split it.",
        )


def _check_promise(place: Estimate) -> None:
    """While a pace is measured, what could not be finished within the promise is refused although places are free."""
    if (
        settings.PROMISED_WAIT_SECONDS
        and place.basis == "measured"
        and place.wait_seconds > settings.PROMISED_WAIT_SECONDS
    ):
        raise refusal("documents")


def _save_rows(caller: Caller, upload: Upload, units: int, place: Estimate, key: str) -> Admitted:
    size = len(upload.content)
    digest = hashlib.sha256(upload.content).hexdigest()
    added = versioning.add_version(
        _job(caller, upload, units, place), slug=upload.slug, title=upload.title, first_title=_first_title(upload),
        if_match=upload.if_match, sha256=digest, media_type=upload.media_type, charset=upload.charset,
        file_name=upload.file_name, storage_key=key,
    )  # fmt: skip
    _check_added(upload, added)
    answer = _answer(upload.slug, added, digest, size, place)
    if upload.key is not None:
        idempotency.keep(caller, upload.key, answer)
    controlling.take_place("documents", units, size)
    _check_share(caller, "documents")
    return Admitted(answer, str(added.job_id), is_replay=False)


def _check_added(upload: Upload, added: Added) -> None:
    """If-Match named the latest version, as it was when the document was locked."""
    if added.verdict == "latest":
        raise Problem("precondition_failed", f"The latest version is {added.number}, If-Match says {upload.if_match}.")
    if added.verdict == "deleted":
        raise Problem("precondition_failed", f"The document was deleted, If-Match says {upload.if_match}.")


def _job(caller: Caller, upload: Upload, units: int, place: Estimate) -> NewJob:
    return NewJob(
        queue="documents", kind="ingest_version", caller_id=caller.pk, units=units, bytes=len(upload.content),
        lane="chat", estimate_seconds=place.wait_seconds, low_seconds=place.low_seconds,
        high_seconds=place.high_seconds, basis=place.basis, jobs_ahead=place.jobs_ahead,
        request_id=upload.request_id,
    )  # fmt: skip


def _first_title(upload: Upload) -> str:
    return upload.found_title or upload.slug.replace("-", " ").capitalize()


class _ShareFilled(Exception):
    """The caller's unfinished jobs fill its own part of the bound; the transaction must be undone."""


def _check_share(caller: Caller, queue: str) -> None:
    """The caller's own part of the bound; exact, because the depth's row is locked by this transaction."""
    if settings.CALLER_QUEUE_SHARE < 1 and standing.live_jobs_of(caller, queue) > share_of(queue):
        raise _ShareFilled


def share_of(queue: str) -> int:
    """The most unfinished jobs that one caller may have in the queue."""
    return max(1, int(controlling.bound_of(queue).jobs * settings.CALLER_QUEUE_SHARE))


def _share_refusal(caller: Caller, queue: str) -> Problem:
    """The 429 for it; when the next place comes is asked for behind the transaction, whose lock all admissions need."""
    wait = max(1, math.ceil(standing.first_finish_seconds(caller, queue)))
    return Problem(
        "rate_limited",
        f"This caller's unfinished jobs fill its share of the queue ({share_of(queue)}); "
        f"the next place is expected in {wait} s.",
        {"Retry-After": str(wait)},
    )


def _answer(slug: str, added: Added, digest: str, size: int, place: Estimate) -> dict[str, Any]:
    url = f"/v1/documents/{slug}"
    return {
        "document": {"slug": slug, "title": added.title, "url": url},
        "version": {
            "number": added.number, "state": "pending", "sha256": digest, "bytes": size,
            "url": f"{url}/versions/{added.number}",
        },
        "job": {"id": str(added.job_id), "state": "queued", "url": f"/v1/jobs/{added.job_id}"},
        "estimate": place.answer(),
    }  # fmt: skip
