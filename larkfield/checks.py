"""System checks of the environment: refused values, and values that contradict each other. Each message names them.

What can't work is an error and stops the start; what works at a price (the W's) is a warning.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection

from ingestion.worker import POOL_MAX
from larkfield import env

# Connections that one API process and one worker may open beside their pools (migrations, admin, psql).
RESERVED_CONNECTIONS = 10
# The worker's pool and its listener.
WORKER_CONNECTIONS = POOL_MAX + 1
# A third in decimals is never exact.
TOLERANCE = 1e-3


def _pairs() -> list[tuple[bool, str, str]]:
    s = settings
    return [
        (
            s.HEARTBEAT_SECONDS > s.LEASE_SECONDS / 3 + TOLERANCE,
            "larkfield.E001",
            f"HEARTBEAT_SECONDS ({s.HEARTBEAT_SECONDS:g}) is above a third of LEASE_SECONDS "
            f"({s.LEASE_SECONDS:g}): two late beats would lose the lease. Lower one or raise the other.",
        ),
        (
            s.PROVIDER_TIMEOUT_SECONDS > s.LEASE_SECONDS,
            "larkfield.E002",
            f"PROVIDER_TIMEOUT_SECONDS ({s.PROVIDER_TIMEOUT_SECONDS:g}) is above LEASE_SECONDS "
            f"({s.LEASE_SECONDS:g}): a dead worker's call could outlive its lease.",
        ),
        (
            s.DRAIN_SECONDS > s.PLATFORM_GRACE_SECONDS,
            "larkfield.E003",
            f"DRAIN_SECONDS ({s.DRAIN_SECONDS:g}) is above PLATFORM_GRACE_SECONDS "
            f"({s.PLATFORM_GRACE_SECONDS:g}): the platform would kill a worker that still drains.",
        ),
        (
            s.BACKOFF_BASE_SECONDS > s.BACKOFF_MAX_SECONDS,
            "larkfield.E004",
            f"BACKOFF_BASE_SECONDS ({s.BACKOFF_BASE_SECONDS:g}) is above BACKOFF_MAX_SECONDS "
            f"({s.BACKOFF_MAX_SECONDS:g}).",
        ),
        (
            s.UPLOAD_MAX_BYTES > s.DOCUMENTS_QUEUE_MAX_BYTES,
            "larkfield.W005",
            f"UPLOAD_MAX_BYTES ({s.UPLOAD_MAX_BYTES}) is above DOCUMENTS_QUEUE_MAX_BYTES "
            f"({s.DOCUMENTS_QUEUE_MAX_BYTES}): the largest uploads are refused also by an empty queue.",
        ),
        (
            not s.PROVIDER_BASE_URL.endswith("/v1"),
            "larkfield.E007",
            f"PROVIDER_BASE_URL ({s.PROVIDER_BASE_URL}) does not end in /v1, as the official client's base URL does.",
        ),
        (
            urlsplit(s.PROVIDER_BASE_URL).scheme not in ("http", "https"),
            "larkfield.E008",
            "PROVIDER_BASE_URL must start with http:// or https://.",
        ),
        (
            urlsplit(s.VALKEY_URL).scheme not in ("redis", "rediss", "unix"),
            "larkfield.E009",
            "VALKEY_URL must start with redis://, rediss:// or unix://.",
        ),
    ]


@register()
def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """Finds refused and contradicting values without asking the database."""
    found: list[CheckMessage] = [Error(message, id="larkfield.E010") for message in env.refused.values()]
    for is_broken, identity, message in _pairs():
        if is_broken:
            found.append((Warning if ".W" in identity else Error)(message, id=identity))
    return found


@register(Tags.database)
def check_connections(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Finds more threads than the server has connections for. Runs where a database is named, as by migrate."""
    if not databases or "default" not in databases:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        most = int(cursor.fetchone()[0])
    needed = settings.DATABASE_POOL_MAX + WORKER_CONNECTIONS + RESERVED_CONNECTIONS
    if needed <= most:
        return []
    return [
        Error(
            f"DATABASE_POOL_MAX ({settings.DATABASE_POOL_MAX}) with a worker's {WORKER_CONNECTIONS} and a reserve of "
            f"{RESERVED_CONNECTIONS} is above the server's max_connections ({most}). Lower one or raise the other.",
            id="larkfield.E006",
        )
    ]
