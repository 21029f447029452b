"""The environment of a launch: `.env` below what the shell says; the addresses file for a second terminal."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from larkfield.launch.errors import CannotLaunch

DEFAULT_PORT = 8000


def read_environment(root: Path, shell: Mapping[str, str]) -> dict[str, str]:
    """The shell's variables, filled up from `root/.env`; an empty variable counts as not set."""
    written = {name: value for name, value in dotenv_values(root / ".env").items() if value}
    return {**written, **{name: value for name, value in shell.items() if value.strip()}}


def port_of(environment: Mapping[str, str]) -> int:
    """The port of the API. Raises CannotLaunch when PORT is not a port."""
    found = environment.get("PORT", str(DEFAULT_PORT)).strip()
    if not (found.isascii() and found.isdigit() and 1 <= int(found) <= 65_535):
        raise CannotLaunch(f"PORT is {found!r}: it must be a number from 1 to 65535")
    return int(found)


def addresses_path(var: Path) -> Path:
    return var / "run" / "addresses.json"


def write_addresses(var: Path, port: int, provider_base_url: str) -> None:
    """A command in a second terminal finds this launch. The file is never half written, holds no secret."""
    path = addresses_path(var)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"PROVIDER_BASE_URL": provider_base_url, "PORT": port, "pid": os.getpid()}))
    fresh.replace(path)


def remove_addresses(var: Path) -> None:
    """The file is gone, unless another launch has written it since."""
    path = addresses_path(var)
    try:
        written_by = json.loads(path.read_text())["pid"]
    except (OSError, ValueError, KeyError):
        return
    if written_by == os.getpid():
        path.unlink(missing_ok=True)
