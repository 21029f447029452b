"""Do the addresses that a person has given answer? A check takes a few seconds and shows no secret."""

import socket
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from larkfield.launch.calling import call
from larkfield.launch.errors import CannotLaunch

TIMEOUT_SECONDS = 3


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def check_port(port: int) -> None:
    if not is_free(port):
        raise CannotLaunch(f"port {port} is taken: stop what listens there or choose another, PORT={port + 1} make run")


def check_database(url: str) -> None:
    """The database takes connections. Raises CannotLaunch with host and reason, without the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise CannotLaunch("DATABASE_URL cannot be read: it must look like postgresql://user@host:5432/name") from None
    where = f"{parts.get('host') or 'local socket'}:{parts.get('port') or 5432}"
    try:
        psycopg.connect(url, connect_timeout=TIMEOUT_SECONDS).close()
    except psycopg.Error as error:
        reason = _one_line(str(error), secret=str(parts.get("password") or ""))
        raise CannotLaunch(f"DATABASE_URL does not answer: {where}: {reason}") from None


def check_cache(url: str) -> None:
    """Valkey answers a PING."""
    import redis

    try:
        client = redis.Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)
        client.ping()
        client.close()
    except (redis.RedisError, ValueError, OSError) as error:
        reason = _one_line(str(error), secret=_password(url))
        raise CannotLaunch(f"VALKEY_URL does not answer: {reason}") from None


def check_storage(connection_string: str) -> None:
    """The blob endpoint takes connections; whether the key fits is seen at /readyz."""
    parts = dict(part.split("=", 1) for part in connection_string.split(";") if "=" in part)
    suffix = parts.get("EndpointSuffix", "core.windows.net")
    default = f"{parts.get('DefaultEndpointsProtocol', 'https')}://{parts.get('AccountName', '')}.blob.{suffix}"
    endpoint = parts.get("BlobEndpoint") or default
    target = urlsplit(endpoint)
    host, port = target.hostname or "", target.port or (443 if target.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), timeout=TIMEOUT_SECONDS).close()
    except (OSError, UnicodeError) as error:
        raise CannotLaunch(
            f"AZURE_STORAGE_CONNECTION_STRING does not answer: {host}:{port}: {_one_line(str(error))}"
        ) from None


def check_provider(base_url: str, api_key: str) -> None:
    """`base_url`/models answers and does not refuse the key. An outage there (5xx) is no reason to stop."""
    target = urlsplit(base_url)
    if target.scheme not in ("http", "https") or not target.hostname:
        raise CannotLaunch("PROVIDER_BASE_URL cannot be read: it must look like http://host:port/v1")
    shown = f"{target.scheme}://{target.hostname}{f':{target.port}' if target.port else ''}{target.path}"
    try:
        status, _, _ = call(f"{base_url.rstrip('/')}/models", token=api_key, timeout_seconds=TIMEOUT_SECONDS)
    except (OSError, ValueError) as error:
        reason = _one_line(str(getattr(error, "reason", error)), secret=api_key)
        raise CannotLaunch(f"PROVIDER_BASE_URL does not answer: {shown}: {reason}") from None
    if status in (401, 403):
        raise CannotLaunch(f"PROVIDER_API_KEY is refused by {shown} (status {status})")


def _password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""


def _one_line(words: str, secret: str = "") -> str:
    line = " ".join(words.split())[:300] or "no reason given"
    return line.replace(secret, "***") if secret else line
