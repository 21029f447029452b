"""The passages that an answer cites, as the page Ask shows them: the whole chunk, and how old its version is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from ingestion.models import Chunk

# An answer supplies fewer; a longer list is no answer's.
CITED_MAX = 20
_PLACE = re.compile(r"([a-z0-9-]{1,100}):([0-9]{1,9}):([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A chunk as a citation names it."""

    document: str
    version: int
    position: int


@dataclass(frozen=True)
class WholePassage:
    """`start` is in code points into the version's text, as in a citation: it places the quote inside `text`."""

    document: str
    version: int
    position: int
    start: int
    text: str
    published_at: datetime | None
    superseded_at: datetime | None


def read_place(given: str) -> Place | None:
    """`document:version:position`, None for anything else."""
    found = _PLACE.fullmatch(given)
    if not found or int(found[2]) > 2**31 - 1 or int(found[3]) > 2**31 - 1:
        return None
    return Place(found[1], int(found[2]), int(found[3]))


def passages(places: Sequence[Place]) -> list[WholePassage]:
    """Those that are still there; what was deleted or pruned since the answer is left out."""
    wanted = Q()
    for place in places:
        wanted |= Q(version__document__slug=place.document, version__number=place.version, position=place.position)
    if not wanted:
        return []
    found = Chunk.objects.filter(wanted, version__document__deleted_at=None, version__published_at__isnull=False)
    rows = found.values_list(
        "version__document__slug", "version__number", "position", "start", "text", "version__published_at",
        "version__superseded_at",
    )  # fmt: skip
    return [WholePassage(*row) for row in rows]
