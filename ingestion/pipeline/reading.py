"""Bytes of a text to normalised text, and the title that stands in it.

Pure: no file, no database. How bytes are decoded is in `decoding`; how text is cut, in `chunking`; what is no text but
holds some (HTML, PDF, Word) goes through `converting`, which ends here too.
"""

import re

from ingestion.pipeline.chunking.blocks import markdown_blocks
from ingestion.pipeline.chunking.front_matter import front_matter_end, front_matter_title
from ingestion.pipeline.chunking.graphemes import clip_graphemes
from ingestion.pipeline.chunking.sections import title_of
from ingestion.pipeline.chunking.titles import LONGEST_TITLE
from ingestion.pipeline.decoding import decode
from ingestion.pipeline.media_types import PLAIN, media_type_of
from ingestion.pipeline.reading_errors import EmptyDocument, ReadingError, UndecodableText, UnsupportedType

__all__ = [
    "EmptyDocument",
    "ReadingError",
    "UndecodableText",
    "UnsupportedType",
    "find_title",
    "has_words",
    "media_type_of",
    "normalise",
    "read_text",
]

# C0 without tab and line feed, DEL, C1: PostgreSQL refuses NUL, and the others mean nothing in a document.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Characters without a shape of their own: a text of nothing else shows a reader nothing.
_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))


def read_text(content: bytes, *, media_type: str, charset: str | None) -> str:
    """The normalised text of an upload: decoded without a loss, `\\n` line ends, control characters as spaces.

    `media_type` is Markdown's or that of plain text, `charset` the declared one. Raises UndecodableText where no
    encoding fits with confidence (never a replacement character), EmptyDocument where no words are left.
    """
    text = normalise(decode(content, charset))
    start = 0 if media_type == PLAIN else front_matter_end(text)
    if not has_words(text[start:]):
        what = "only front matter" if start else "no text"
        raise EmptyDocument(f"The document has {what}: there is nothing to search or to cite.")
    return text


def has_words(text: str) -> bool:
    """Whether the text shows a reader anything."""
    return bool(text.translate(_WITHOUT_INVISIBLE).strip())


def normalise(text: str) -> str:
    """The text without a byte-order mark, line ends as `\\n`, every other control character but tab as one space."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(" ", text)


def find_title(text: str) -> str | None:
    """The title in the front matter, or the first heading of level 1; cleaned, on one line, at most 200 characters."""
    if title := front_matter_title(text):
        title = clip_graphemes(" ".join(title.split()), LONGEST_TITLE).strip()
    if title:
        return title
    for block in markdown_blocks(text, front_matter_end(text)):
        if block.kind == "heading" and block.level == 1 and (title := title_of(text, block)):
            return title
    return None
