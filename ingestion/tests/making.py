"""What the queue's tests are made of: callers with a client, uploads over HTTP, bare jobs, and a worker's steps.

Time is moved here by SQL; nothing waits. Events have their own such module, `eventing`.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client
from limits import RateLimitItemPerMinute
from redis import Redis

from ingestion import jobs, limits, promises, standing
from ingestion.models import Caller, Corpus, Job, ProviderState, QueueState
from ingestion.models.callers import hash_token, new_token
from ingestion.queue import controlling
from ingestion.queue.claims import Claim, claim
from ingestion.queue.controlling import NewJob
from ingestion.worker import running

MARKDOWN = "text/markdown"
TEXT = b"# Returns\n\nGoods may be returned within 30 days.\n"
KINDS = jobs.kinds_of("documents")


def stand() -> None:
    """The rows that a migration made are there, also after a test that committed and was followed by a flush."""
    for queue in jobs.QUEUES:
        QueueState.objects.get_or_create(queue=queue)
    Corpus.objects.get_or_create(id=1)
    ProviderState.objects.get_or_create(id=1)
    # These two outlive the test database.
    standing._paces.clear()
    promises.forget("documents")


def make_caller(name: str = "omar", *rights: str, **values: Any) -> Caller:
    """A caller whose minute is untouched, without a token."""
    stand()
    made = Caller.objects.create(name=name, rights=list(rights or ("upload",)), **values)
    valkey: Redis = Redis.from_url(settings.VALKEY_URL)
    for key in valkey.scan_iter(f"*/uploads/{made.pk}/*"):
        valkey.delete(key)
    return made


class Uploader:
    """A caller with its token, as a program outside uses the routes."""

    def __init__(self, name: str = "omar", *rights: str, **values: Any) -> None:
        token = new_token()
        self.caller = make_caller(name, *rights, token_hash=hash_token(token), **values)
        # Typed loosely: the test client's answers have a `json` that their class does not name.
        self.client: Any = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)

    def upload(
        self, slug: str = "returns", content: bytes = TEXT, *, key: str | None = None, media_type: str = MARKDOWN,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # fmt: skip
        """The raw bytes as a new version of `slug`."""
        # Named once more, because the test client leaves the type of an empty body out.
        sent = {"Content-Type": media_type, **(headers or {})}
        if key is not None:
            sent["Idempotency-Key"] = key
        path = f"/v1/documents/{slug}/versions"
        return self.client.post(path, content, content_type=media_type, headers=sent)

    def send_file(
        self, slug: str = "returns", content: bytes = TEXT, *, title: str | None = None, name: str = "returns.md",
        key: str | None = None, media_type: str = MARKDOWN,
    ) -> Any:  # fmt: skip
        """The same as a multipart form, with a file name and perhaps a title."""
        fields: dict[str, Any] = {"file": SimpleUploadedFile(name, content, content_type=media_type)}
        if title is not None:
            fields["title"] = title
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(f"/v1/documents/{slug}/versions", fields, headers=headers)

    def accepted(self, slug: str = "returns", content: bytes = TEXT, **options: Any) -> dict[str, Any]:
        """The body of an upload's 202."""
        return body(self.upload(slug, content, **options), 202)

    def get(self, path: str, status: int = 200) -> dict[str, Any]:
        return body(self.client.get(path), status)

    def post(self, path: str, status: int) -> dict[str, Any]:
        return body(self.client.post(path), status)


def body(response: Any, status: int) -> dict[str, Any]:
    """The JSON of an answer that must have this status."""
    assert response.status_code == status, response.content
    found: dict[str, Any] = response.json()
    return found


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The problem document of a refusal."""
    found = body(response, status)
    assert response["Content-Type"] == "application/problem+json"
    assert (found["code"], found["status"]) == (code, status)
    assert {"type", "title", "detail"} <= found.keys()
    return found


def make_job(caller: Caller, **values: Any) -> UUID:
    """A bare queued job with its place in the bound; it has no document, so only the queue's verbs fit it."""
    row: dict[str, Any] = {"queue": "documents", "kind": "ingest_version", "units": 10, "bytes": 100, "lane": "chat"}
    new = NewJob(caller_id=caller.pk, **{**row, **values})
    with transaction.atomic():
        made = controlling.insert(new)
        controlling.take_place(new.queue, new.units, new.bytes)
    # Within a test's one transaction now() stands still, and a job would be ready a moment after it.
    make_ready(made)
    return made


def claims(limit: int = 100, *, worker: str = "kwame", lane: str = "chat") -> list[Claim]:
    """What a free worker claims now for a lane."""
    return claim("documents", KINDS, lane=lane, limit=limit, worker=worker)


def claim_one(worker: str = "kwame", lane: str = "chat") -> Claim:
    """The next job, which must be there."""
    found = claims(1, worker=worker, lane=lane)
    assert found, "nothing was ready"
    return found[0]


def run(one: Claim) -> bool:
    """Runs a claim as a worker's thread does; a database that is away is met without waiting."""
    return running.run(one, jobs.KINDS[one.kind], pause=lambda seconds: None)


def work() -> int:
    """Runs everything that is ready until nothing is; the number of runs."""
    count = 0
    while found := [*claims(lane="embeddings"), *claims()]:
        for one in found:
            run(one)
        count += len(found)
    return count


def make_ready(*job_ids: Any) -> None:
    """The time of the jobs that wait (all, where none is named) has come."""
    found = Job.objects.filter(id__in=job_ids) if job_ids else Job.objects.all()
    found.filter(state="queued").update(ready_at="2026-01-01T00:00:00Z")


def run_out(*ones: Claim) -> None:
    """The leases of the claims ended a second ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ingestion_job SET lease_until = now() - interval '1 second' WHERE id = ANY(%s)",
            [[one.id for one in ones]],
        )


def change_job(job_id: Any, **values: Any) -> None:
    Job.objects.filter(id=job_id).update(**values)


def job(job_id: Any) -> Job:
    return Job.objects.get(id=job_id)


def depth(queue: str = "documents") -> tuple[int, int, int]:
    """(jobs, units, bytes) as admission counts them."""
    row = QueueState.objects.get(queue=queue)
    return row.jobs, row.units, row.bytes


def live_depth(queue: str = "documents") -> tuple[int, int, int]:
    """(jobs, units, bytes) of the unfinished jobs themselves."""
    live = list(Job.objects.filter(queue=queue, state__in=("queued", "running")))
    return len(live), sum(one.units for one in live), sum(one.bytes for one in live)


def tokens_used(caller: Caller) -> int:
    """How many uploads of the caller's minute are spent."""
    item = RateLimitItemPerMinute(limits.limit_of(caller, "uploads"))
    stats = limits._ask("get_window_stats", item, "uploads", str(caller.pk))
    return int(item.amount - stats.remaining)
