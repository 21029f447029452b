"""Bytes to normalised text, and what can be told of a document at the door: its media type and its title.

Pure: no file, no database. How bytes are decoded is in `decoding`; how text is cut, in `chunking`.
"""

import re
from email.message import Message
from pathlib import PurePosixPath

from ingestion.pipeline.chunking.blocks import markdown_blocks
from ingestion.pipeline.chunking.front_matter import front_matter_end, front_matter_title
from ingestion.pipeline.chunking.graphemes import clip_graphemes
from ingestion.pipeline.chunking.sections import title_of
from ingestion.pipeline.chunking.titles import LONGEST_TITLE
from ingestion.pipeline.decoding import decode
from ingestion.pipeline.reading_errors import EmptyDocument, ReadingError, UndecodableText, UnsupportedType

__all__ = [
    "EmptyDocument",
    "ReadingError",
    "UndecodableText",
    "UnsupportedType",
    "find_title",
    "media_type_of",
    "normalise",
    "read_text",
]

_MARKDOWN = "text/markdown"
_PLAIN = "text/plain"
_TYPES = {"text/markdown": _MARKDOWN, "text/x-markdown": _MARKDOWN, "text/plain": _PLAIN}
_ENDINGS = {".md": _MARKDOWN, ".markdown": _MARKDOWN, ".txt": _PLAIN}
_ACCEPTED = "Larkfield reads text/markdown (.md, .markdown) and text/plain (.txt)."
# Types that say nothing: what a client sends when it does not know.
_UNKNOWN_TYPES = ("", "application/octet-stream", "binary/octet-stream")

# C0 without tab and line feed, DEL, C1: PostgreSQL refuses NUL, and the others mean nothing in a document.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Characters without a shape of their own: a text of nothing else shows a reader nothing.
_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))


def read_text(content: bytes, *, media_type: str, charset: str | None) -> str:
    """The normalised text of an upload: decoded without a loss, `\\n` line ends, control characters as spaces.

    `media_type` is a result of `media_type_of`, `charset` the declared one. Raises UndecodableText where no encoding
    fits with confidence (never a replacement character), EmptyDocument where no words are left.
    """
    text = normalise(decode(content, charset))
    start = 0 if media_type == _PLAIN else front_matter_end(text)
    if not text[start:].translate(_WITHOUT_INVISIBLE).strip():
        what = "only front matter" if start else "no text"
        raise EmptyDocument(f"The document has {what}: there is nothing to search or to cite.")
    return text


def normalise(text: str) -> str:
    """The text without a byte-order mark, line ends as `\\n`, every other control character but tab as one space."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(" ", text)


def media_type_of(content_type_header: str | None, file_name: str | None) -> tuple[str, str | None]:
    """The canonical media type and the declared charset; a missing or unknown type is told by the file name's ending.

    Raises UnsupportedType for every other type, naming what is accepted.
    """
    declared, charset = _parsed(content_type_header or "")
    if declared in _TYPES:
        return _TYPES[declared], charset
    if declared not in _UNKNOWN_TYPES:
        raise UnsupportedType(f"The type {declared[:100]!r} is not supported. {_ACCEPTED}")
    ending = PurePosixPath((file_name or "").replace("\\", "/")).suffix.lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending], charset
    told = f"the file ending {ending[:20]!r} is not supported" if ending else "no file ending tells it"
    raise UnsupportedType(f"The request names no type, and {told}. {_ACCEPTED}")


def _parsed(header: str) -> tuple[str, str | None]:
    message = Message()
    # A line end in a header would begin another one.
    message["Content-Type"] = " ".join(header.split())
    declared = header.split(";", 1)[0].strip().lower()
    charset = message.get_param("charset")
    return declared, charset.strip() or None if isinstance(charset, str) else None


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
