"""The types that Larkfield reads: what they are called, how a file name tells them, and which are converted first."""

from email.message import Message
from pathlib import PurePosixPath

from ingestion.pipeline.reading_errors import UnsupportedType

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
HTML = "text/html"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# A worker turns these into Markdown, in a process of its own.
CONVERTED = frozenset({HTML, PDF, DOCX})

_TYPES = {
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/plain": PLAIN,
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    DOCX: DOCX,
}
_ENDINGS = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": PLAIN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".docx": DOCX,
}
_ACCEPTED = (
    "Larkfield reads text/markdown (.md, .markdown), text/plain (.txt), text/html (.html, .htm), application/pdf "
    "(.pdf) and Word documents (.docx)."
)
# Types that say nothing: what a client sends when it does not know.
_UNKNOWN_TYPES = ("", "application/octet-stream", "binary/octet-stream")


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
