"""The 36 policies and 40 questions that come with the project, read from the files beside this one.

Plain reading lives here. How later editions are made is in `versions`; storing and searching belong elsewhere.
"""

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Question:
    """A question of the help desk together with the one section that answers it."""

    id: str
    question: str
    document: str
    heading: str
    answer: str
    must_contain: tuple[str, ...]


def corpus_documents() -> dict[str, str]:
    """Return the Markdown of every policy by its slug, in the order of the slugs."""
    paths = sorted((HERE / "documents").glob("*.md"))
    # Bytes first: universal newlines would change line ends that the chunker is tested on.
    return {path.stem: path.read_bytes().decode("utf-8") for path in paths}


def corpus_questions() -> list[Question]:
    """Return the questions in the order of the file; each string of `must_contain` stands in the named section."""
    entries = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
    return [Question(**{**entry, "must_contain": tuple(entry["must_contain"])}) for entry in entries]
