"""System checks of settings that contradict each other: each names both values and stops the start."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register

# Connections that one API process and one worker may open beside their pools (migrations, admin, psql).
RESERVED_CONNECTIONS = 10


def _pairs() -> list[tuple[bool, str, str]]:
    s = settings
    return [
        (
            s.HEARTBEAT_SECONDS > s.LEASE_SECONDS / 3,
            "larkfield.E001",
            f"HEARTBEAT_SECONDS ({s.HEARTBEAT_SECONDS:g}) is above a third of LEASE_SECONDS "
            f"({s.LEASE_SECONDS:g}): a single late beat would lose the lease. Lower one or raise the other.",
        ),
        (
            s.PROVIDER_TIMEOUT_SECONDS >= s.LEASE_SECONDS,
            "larkfield.E002",
            f"PROVIDER_TIMEOUT_SECONDS ({s.PROVIDER_TIMEOUT_SECONDS:g}) is not below LEASE_SECONDS "
            f"({s.LEASE_SECONDS:g}): a dead worker's call could outlive its lease.",
        ),
        (
            s.DRAIN_SECONDS >= s.PLATFORM_GRACE_SECONDS,
            "larkfield.E003",
            f"DRAIN_SECONDS ({s.DRAIN_SECONDS:g}) is not below PLATFORM_GRACE_SECONDS "
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
            "larkfield.E005",
            f"UPLOAD_MAX_BYTES ({s.UPLOAD_MAX_BYTES}) is above DOCUMENTS_QUEUE_MAX_BYTES "
            f"({s.DOCUMENTS_QUEUE_MAX_BYTES}): the largest upload could never be accepted.",
        ),
        (
            not s.PROVIDER_BASE_URL.endswith("/v1"),
            "larkfield.E007",
            f"PROVIDER_BASE_URL ({s.PROVIDER_BASE_URL}) does not end in /v1, as the official client's base URL does.",
        ),
    ]


@register()
def check_settings(**kwargs: Any) -> list[Error]:
    """Finds contradicting settings without asking the database."""
    return [Error(message, id=identity) for broken, identity, message in _pairs() if broken]
