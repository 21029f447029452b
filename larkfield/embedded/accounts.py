"""Under which account PostgreSQL runs when we are root (which it refuses to be), and its way to its files."""

import os
import pwd
import stat
import sys
from pathlib import Path

from larkfield.embedded.errors import EmbeddedUnavailable

PLAIN_ACCOUNT = "nobody"  # there on every system, so that none has to be created on a stranger's machine


def account_for(cluster: Path) -> tuple[int, int] | None:
    """(user, group) to run as, or None for our own: the owner of the data folder, else a plain account.

    Raises EmbeddedUnavailable when the data belongs to somebody whom we cannot become.
    """
    owner = _owner(cluster)
    if os.geteuid() != 0:
        if owner is not None and owner[0] != os.geteuid():
            raise EmbeddedUnavailable(f"{cluster} belongs to another account (number {owner[0]})")
        return None
    if owner is not None and owner[0] != 0:
        return owner
    try:
        entry = pwd.getpwnam(PLAIN_ACCOUNT)
    except KeyError:
        raise EmbeddedUnavailable(f"PostgreSQL refuses to run as root and there is no {PLAIN_ACCOUNT!r}") from None
    return entry.pw_uid, entry.pw_gid


def _owner(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise EmbeddedUnavailable(f"{path} belongs to another account") from error
    return found.st_uid, found.st_gid


def open_the_way(directory: Path, programs: Path) -> None:
    """The plain account reaches the data folder and runs the programs; folders get passable, not readable."""
    directory.mkdir(parents=True, exist_ok=True)
    for folder in {directory, *directory.parents, programs, *programs.parents}:
        if not folder.stat().st_mode & stat.S_IXOTH:
            sys.stderr.write(f"larkfield: {folder} is made passable (o+x) for PostgreSQL, which refuses to be root\n")
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    if not (programs / "postgres").stat().st_mode & stat.S_IROTH:  # installed under a strict umask
        _make_readable(programs.parent)


def _make_readable(tree: Path) -> None:
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(Path(folder).stat().st_mode | stat.S_IROTH | stat.S_IXOTH)
        for path in (Path(folder, name) for name in files):
            mode = path.stat().st_mode
            path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))
