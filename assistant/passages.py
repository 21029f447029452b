"""A passage: a chunk of a published version as search found it. No query and no rule lives here."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """`start` and `end` are code points into the version's normalised text; `text` is that exact slice."""

    document: str
    title: str
    version: int
    position: int
    heading_path: Sequence[str]
    start: int
    end: int
    text: str
    # Heading path and, where the chunk continues a table, the table's header rows.
    embedding_prefix: str
    tokens: int
    score: float

    @property
    def table_header(self) -> str:
        """The header rows of the table that the chunk continues; empty for other chunks."""
        return "\n".join(line for line in self.embedding_prefix.splitlines() if line.lstrip().startswith("|"))

    @property
    def source(self) -> str:
        """Title and headings on one line: where a reader finds the passage."""
        return " > ".join(dict.fromkeys((self.title, *self.heading_path)))
