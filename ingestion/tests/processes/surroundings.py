"""The environment of a child process: the test database, the simulator, and waits short enough for a test."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from ingestion.tests.simulated import PROJECT, Simulator

MANAGE = [sys.executable, "manage.py"]

# Quotas that no test reaches unless it is about them.
PLENTY_OF_REQUESTS = "1000000"
PLENTY_OF_TOKENS = "100000000"
PLENTIFUL = (
    "--chat-requests-per-minute", PLENTY_OF_REQUESTS, "--embedding-tokens-per-minute", PLENTY_OF_TOKENS,
)  # fmt: skip

QUICK = {
    # Long enough that a busy machine reaches a held job before its call times out or its lease ends.
    "LEASE_SECONDS": "8",
    "HEARTBEAT_SECONDS": "0.5",
    "PROVIDER_TIMEOUT_SECONDS": "7",
    "PROVIDER_PAUSE_SECONDS": "0.5",
    "BREAKER_OPEN_SECONDS": "0.3",
    "BACKOFF_BASE_SECONDS": "0.05",
    "BACKOFF_MAX_SECONDS": "0.2",
    "CHAT_REQUESTS_PER_MINUTE": PLENTY_OF_REQUESTS,
    "EMBEDDING_TOKENS_PER_MINUTE": PLENTY_OF_TOKENS,
    "QUESTION_SHARE": "0",
    # Few inputs a call, so that a short document has several batches.
    "EMBEDDING_BATCH_INPUTS": "2",
    "PROMISED_WAIT_SECONDS": "0",
}


def database_url(name: str, database: str | None = None) -> str:
    """The test database's address; sessions that are opened with it carry `name` in pg_stat_activity."""
    found = connection.settings_dict
    login = f"{quote(found['USER'], safe='')}:{quote(found['PASSWORD'], safe='')}"
    where = found["HOST"] or ""
    # A socket's folder can't stand where a host name does.
    host, folder = ("", f"host={quote(where, safe='')}&") if where.startswith("/") else (where, "")
    port = f":{found['PORT']}" if found["PORT"] else ""
    return f"postgresql://{login}@{host}{port}/{database or found['NAME']}?{folder}application_name={quote(name)}"


def environment(name: str, simulator: Simulator, changes: Mapping[str, str]) -> dict[str, str]:
    """What a child called `name` starts with."""
    return {
        **os.environ,
        **QUICK,
        "DATABASE_URL": database_url(name),
        "VALKEY_URL": settings.VALKEY_URL,
        "LARKFIELD_DATA_DIR": str(Path(settings.MEDIA_ROOT).parent),
        "PROVIDER_BASE_URL": simulator.base_url,
        "PYTHONUNBUFFERED": "1",
        **changes,
    }


__all__ = ["MANAGE", "PLENTIFUL", "PROJECT", "QUICK", "database_url", "environment"]
