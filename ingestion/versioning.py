"""A new version's rows: the document's next number, the version and its job, in one statement of the admission.

What decides whether there is a place is `admission`; the file is stored by then.
"""

from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from ingestion import connections
from ingestion.queue.controlling import NewJob

ADD_VERSION = """
SELECT verdict_, document_title_, number_, job_ FROM ingestion_add_version(
    %(slug)s, %(title)s, %(first_title)s, %(if_match)s, %(queue)s, %(kind)s, %(lane)s,
    %(caller_id)s, %(max_attempts)s, %(units)s, %(bytes)s,
    %(estimate_seconds)s, %(low_seconds)s, %(high_seconds)s, %(basis)s, %(jobs_ahead)s, %(request_id)s,
    %(sha256)s, %(media_type)s, %(charset)s, %(file_name)s, %(storage_key)s)
"""


class Added(NamedTuple):
    """`verdict` is "added"; or "latest" or "deleted", where If-Match named another number than `number`, the latest."""

    verdict: str
    title: str
    number: int
    job_id: UUID


def add_version(job: NewJob, **version: Any) -> Added:
    """The version is in the caller's transaction, or the verdict says why not; the document is locked until it ends.

    `version`: slug, title (or None), first_title, if_match (or None), sha256, media_type, charset, file_name,
    storage_key.
    """
    values = {**vars(job), "max_attempts": settings.MAX_ATTEMPTS, **version}
    return Added(*connections.prepared(ADD_VERSION, values)[0])
