"""What chunking hands out: where a chunk lies and what is embedded for it. No text is kept here."""

import re
from dataclasses import dataclass

# A run of blanks longer than this is one character of what is embedded: it carries no meaning, must not become a
# chunk of its own, and may be a megabyte. Wider than any indent that matters, and at three tokens for the rarest
# blank still far from a chunk's limit.
LONGEST_BLANK = 60
_LONG_BLANK = re.compile(rf"(?<!\s)\s{{{LONGEST_BLANK + 1},}}")


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """One chunk: `text[start:end]` in code points of the normalised text, numbered from 0 in reading order."""

    position: int
    start: int
    end: int
    heading_path: tuple[str, ...]
    embedding_prefix: str


def embedded_text(text: str, span: ChunkSpan) -> str:
    """What is sent to be embedded for `span`: its prefix and its slice, runs of over 60 blanks squeezed to one."""
    return span.embedding_prefix + squeeze(text[span.start : span.end])


def squeeze(text: str) -> str:
    """The text with each run of more than 60 blanks as one line end or space."""
    if len(text) <= LONGEST_BLANK:
        return text
    return _LONG_BLANK.sub(lambda run: "\n" if "\n" in run[0] else " ", text)
