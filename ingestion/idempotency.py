"""Idempotency keys: a caller's key names one request and its answer; a unique index decides who was first."""

import hashlib
import re
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from ingestion.models import Caller, IdempotencyKey
from ingestion.problems import Problem

_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")

# An expired key is taken over in place; a live one gives no row, also when its owner commits while we wait for it.
CLAIM = """
INSERT INTO ingestion_idempotencykey AS held (caller_id, key, fingerprint, answer, expires_at)
VALUES (%(caller)s, %(key)s, %(fingerprint)s, '{}', now() + make_interval(secs => %(seconds)s))
ON CONFLICT (caller_id, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, answer = '{}', created_at = now(), expires_at = EXCLUDED.expires_at
WHERE held.expires_at <= now()
RETURNING id
"""


class Known(Exception):
    """The key belongs to a request that was answered before."""

    def __init__(self, row: IdempotencyKey) -> None:
        super().__init__(row.key)
        self.row = row

    def answer(self, fingerprint: str) -> dict[str, Any]:
        return _answer(self.row, fingerprint)


def read_key(header: str | None) -> str | None:
    """The key of an Idempotency-Key header, quoted or bare. Raises Problem 400 `invalid_idempotency_key`."""
    if header is None:
        return None
    key = header.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not _VISIBLE.fullmatch(key):
        raise Problem("invalid_idempotency_key", "An Idempotency-Key has 1 to 255 visible ASCII characters.")
    return key


def fingerprint(*parts: str | None) -> str:
    """SHA-256 over the parts, each with its length, so that no two lists of parts read the same."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(f"{'-' if part is None else len(encoded)}:".encode() + encoded)
    return digest.hexdigest()


def _live(caller: Caller, key: str) -> IdempotencyKey | None:
    return IdempotencyKey.objects.filter(caller=caller, key=key, expires_at__gt=Now()).first()


def is_known(caller: Caller, key: str) -> bool:
    """A committed request of this caller has the key."""
    return _live(caller, key) is not None


def find(caller: Caller, key: str, fingerprint: str) -> dict[str, Any] | None:
    """The stored answer of the same request, None for a new key. Raises 422 `idempotency_key_reused`."""
    row = _live(caller, key)
    return None if row is None else _answer(row, fingerprint)


def _answer(row: IdempotencyKey, fingerprint: str) -> dict[str, Any]:
    if row.fingerprint != fingerprint:
        raise Problem("idempotency_key_reused", "This Idempotency-Key was used for another request; use a new one.")
    answer: dict[str, Any] = row.answer
    return answer


def claim(caller: Caller, key: str, fingerprint: str) -> None:
    """Inside the admission: the key is this request's. Raises Known when it is another's."""
    seconds = settings.IDEMPOTENCY_HOURS * 3600
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"caller": caller.pk, "key": key, "fingerprint": fingerprint, "seconds": seconds})
        if cursor.fetchone() is None:
            raise Known(IdempotencyKey.objects.get(caller=caller, key=key))


def keep(caller: Caller, key: str, answer: dict[str, Any]) -> None:
    """The key's answer is stored with what it answers."""
    IdempotencyKey.objects.filter(caller=caller, key=key).update(answer=answer)
