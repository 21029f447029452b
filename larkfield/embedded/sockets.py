"""Where a server's Unix socket lies: beside its data, or in a temporary folder when that path is too long.

The system limits a socket's path to 107 bytes on Linux and 103 on macOS.
"""

import os
import tempfile
from pathlib import Path

LONGEST_PATH_BYTES = 103


def fits(folder: Path, socket_name: str) -> bool:
    """Whether the socket's path is short enough; a comma would end the path in PostgreSQL's settings."""
    return len(os.fsencode(folder / socket_name)) <= LONGEST_PATH_BYTES and not set(str(folder)) & set(',"')


def folder_for(preferred: Path, socket_name: str, memory: Path) -> Path:
    """The folder for the socket: `preferred` if short enough, else the one that `memory` (a file) names."""
    if fits(preferred, socket_name):
        return preferred
    try:
        return Path(memory.read_text().strip())
    except FileNotFoundError:
        return preferred


def provide_folder(preferred: Path, socket_name: str, memory: Path, account: tuple[int, int] | None) -> None:
    """The folder that `folder_for` names exists, closed to others. The caller holds the keeper's lock."""
    folder = folder_for(preferred, socket_name, memory)
    if folder == preferred and fits(preferred, socket_name):
        preferred.mkdir(parents=True, exist_ok=True)
        return
    if folder == preferred or not folder.is_dir():  # never made, or the system emptied its temporary folder
        folder = Path(tempfile.mkdtemp(prefix="larkfield-"))  # a name nobody can have prepared; mode 0700
        if account is not None:
            os.chown(folder, *account)
        written = memory.with_suffix(".written")
        written.write_text(f"{folder}\n")
        written.replace(memory)
