"""Is the process alive, and are its parts there: /healthz and /readyz, open to everyone, without a secret."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.http import HttpRequest, JsonResponse

from ingestion.promises import valkey

log = logging.getLogger("larkfield.health")

# A name that no version has: asking for it shows that the storage answers.
PROBE_NAME = "readiness-probe"
PATIENCE_SECONDS = 2.0


def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


def _database() -> None:
    # Not for as long as a request may wait: who asks for readiness gives up after a few seconds and takes it for a no.
    pool = cast(DatabaseWrapper, connection).pool
    # Django opens it with the process's first query, which may be this one.
    pool.open()
    with pool.connection(timeout=PATIENCE_SECONDS) as probe:
        probe.execute("SELECT 1 FROM ingestion_queuestate LIMIT 1")


def _storage() -> None:
    default_storage.exists(PROBE_NAME)
    if isinstance(default_storage, FileSystemStorage):
        # On disk a missing file is no error, whatever its folder is: the folder itself must take files.
        root = Path(default_storage.location)
        root.mkdir(parents=True, exist_ok=True)
        if not os.access(root, os.W_OK | os.X_OK):
            raise PermissionError(root)


def _cache() -> None:
    valkey().ping()


def _check(probe: Callable[[], object], failure: str) -> str:
    try:
        probe()
    except Exception as error:
        log.warning("a part is not there", extra={"part": probe.__name__.strip("_"), "error": type(error).__name__})
        return failure
    return "ok"


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database and storage answer; a cache that is down only degrades, since the product works without."""
    checks = {
        "database": _check(_database, "down"),
        "storage": _check(_storage, "down"),
        "cache": _check(_cache, "degraded"),
    }
    is_ready = checks["database"] == checks["storage"] == "ok"
    status = "unavailable" if not is_ready else "ok" if checks["cache"] == "ok" else "degraded"
    return JsonResponse({"status": status, "checks": checks}, status=200 if is_ready else 503)
