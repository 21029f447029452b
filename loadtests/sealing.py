"""Seals a recorded run: SHA256SUMS beside its files, written when it is recorded, so that an edit afterwards is seen.

`sha256sum -c SHA256SUMS` in the folder says the same as `broken`.
"""

import hashlib
from pathlib import Path

SEAL = "SHA256SUMS"


def seal(folder: Path) -> Path:
    """Every file of the folder and below it, apart from other sealed folders, is named with its hash."""
    lines = [f"{_hash(path)}  {path.relative_to(folder).as_posix()}\n" for path in _files(folder)]
    place = folder / SEAL
    place.write_text("".join(lines))
    return place


def broken(folder: Path) -> list[str]:
    """What differs from the seal, a sentence each; none where all is as recorded."""
    place = folder / SEAL
    if not place.exists():
        return [f"{folder.name} has no seal"]
    sealed = {name: known for known, name in (line.split("  ", 1) for line in place.read_text().splitlines())}
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    return [
        *(f"{name} is gone" for name in sorted(sealed.keys() - there.keys())),
        *(f"{name} is not of the recorded run" for name in sorted(there.keys() - sealed.keys())),
        *(f"{name} was edited" for name in sorted(sealed.keys() & there.keys()) if _hash(there[name]) != sealed[name]),
    ]


def sealed_folders(results: Path) -> list[Path]:
    return sorted(path.parent for path in results.rglob(SEAL))


def _files(folder: Path) -> list[Path]:
    inner = {path.parent for path in folder.rglob(SEAL)} - {folder}
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != SEAL)
    return sorted(path for path in found if not inner.intersection(path.parents))


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
