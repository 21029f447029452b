"""The questions that search and answers are measured on: the corpus' own forty, and harder ones. Reading only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.corpus import corpus_questions

HARDER = Path(__file__).parent / "evaluation" / "harder.json"
SETS = ("corpus", "harder")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a document. Not its words: a later version may change a fact and still be the right place."""

    document: str
    heading: str

    def is_in(self, document: str, heading_path: Sequence[str], text: str) -> bool:
        """Whether the chunk belongs to this section; small sections share a chunk, which is under the first's path."""
        if document != self.document:
            return False
        return self.heading in heading_path or any(_heading(line) == self.heading for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the sections that answer it, each of them alone or in part; none for an unanswerable one."""

    id: str
    kind: str
    question: str
    expected: tuple[Section, ...]


def questions(name: str) -> list[Asked]:
    """The questions of the set `corpus` or `harder`, in the order of its file."""
    if name == "corpus":
        return [
            Asked(one.id, "corpus", one.question, (Section(one.document, one.heading),)) for one in corpus_questions()
        ]
    entries: list[dict[str, Any]] = json.loads(HARDER.read_text(encoding="utf-8"))
    return [
        Asked(entry["id"], entry["kind"], entry["question"], tuple(Section(**one) for one in entry["expected"]))
        for entry in entries
    ]


def _heading(line: str) -> str | None:
    return line.lstrip("#").strip() if line.startswith("#") else None
