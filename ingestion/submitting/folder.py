"""What a folder holds for an upload: its documents, each with the slug that its name gives. No network here."""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
SLUG_MAX = 100
# What a German reader writes for letters that ASCII has not.
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True)
class Found:
    """A file to send, `name` as seen from the folder; `problem` says why it can't be."""

    path: Path
    name: str
    slug: str
    media_type: str
    problem: str = ""


def slug_of(name: str) -> str:
    """A slug from a file name without its ending: lower-case ASCII, digits, hyphens; empty where nothing is left."""
    folded = unicodedata.normalize("NFC", name).lower().translate(_LETTERS)
    plain = unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG_MAX].strip("-")


def documents(place: Path) -> list[Found]:
    """The documents below the folder (or the one file), in order of their names; hidden ones and links are left out.

    Two files that would become versions of one document are told apart by their folders' names; where even those give
    the same slug, the second one has a problem.
    """
    files = [place] if place.is_file() else sorted(_walk(place))
    root = place.parent if place.is_file() else place
    names = [path.relative_to(root) for path in files]
    stems = [slug_of(name.stem) for name in names]
    taken: dict[str, str] = {}
    found = []
    for path, name, stem in zip(files, names, stems, strict=True):
        slug = stem if stems.count(stem) == 1 else slug_of(str(name.with_suffix("")))
        problem = "its name holds no letter or digit that a slug can have" if not slug else ""
        if slug and taken.setdefault(slug, str(name)) != str(name):
            problem = f"{taken[slug]} has the same slug {slug!r}: rename one of them"
        found.append(Found(path, str(name), slug, MEDIA_TYPES[path.suffix.lower()], problem))
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(here, name)
            if not name.startswith(".") and path.suffix.lower() in MEDIA_TYPES and not path.is_symlink():
                yield path
