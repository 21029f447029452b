"""The demo caller's secrets: made once, kept in files that only their owner may read, never printed."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

DEMO_NAME = "demo"


@dataclass(frozen=True)
class Demo:
    """Where the token for the API and the password for the pages are kept, and what they are."""

    token_path: Path
    password_path: Path
    token: str
    password: str


def provide_demo(var: Path) -> Demo:
    """Both files exist. A lost one is made anew; `preparing` then makes the new secret the valid one."""
    token_path, password_path = var / "demo-token", var / "demo-password"
    return Demo(token_path, password_path, _kept(token_path, 32), _kept(password_path, 12))


def _kept(path: Path, random_bytes: int) -> str:
    try:
        found = path.read_text().strip()
    except FileNotFoundError:
        found = ""
    return found or _write(path, secrets.token_urlsafe(random_bytes))


def _write(path: Path, secret: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(f"{secret}\n")
    fresh.replace(path)
    return secret
