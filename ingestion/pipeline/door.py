"""What a request may learn of a file before it is admitted: cheap checks, its size in characters, its title.

Nothing is converted here: a file that is no text is only looked at by its first bytes, and what it holds is estimated.
"""

from dataclasses import dataclass

from django.conf import settings

from ingestion.pipeline.markup import decode_page, page_title
from ingestion.pipeline.media_types import CONVERTED, DOCX, HTML
from ingestion.pipeline.reading import find_title, has_words, read_text
from ingestion.pipeline.reading_errors import EmptyDocument, UndecodableText

# Characters of text for each byte of a file. Half of a page's source is markup. A Word document is packed prose:
# three characters a byte, beside some 10 KB of styles and perhaps pictures. A PDF carries its fonts.
_HTML_SHARE = 0.5
_DOCX_SHARE = 1.0
_PDF_SHARE = 0.25
# Readers accept a PDF that begins within this many bytes.
_PDF_HEAD_BYTES = 1_024


@dataclass(frozen=True, slots=True)
class Found:
    """`characters` are counted for a text and estimated for a file that will be converted."""

    characters: int
    title: str | None


def look_at(content: bytes, *, media_type: str, charset: str | None) -> Found:
    """What the bytes hold, or a ReadingError that says why they can't be taken: empty, another kind, undecodable."""
    if media_type not in CONVERTED:
        text = read_text(content, media_type=media_type, charset=charset)
        return Found(len(text), find_title(text))
    if not content.strip():
        raise EmptyDocument("The file is empty: there is nothing to search or to cite.")
    if media_type == HTML:
        return _page(content, charset)
    if media_type == DOCX:
        _check_docx(content)
        return _estimate(len(content) * _DOCX_SHARE, None)
    if b"%PDF-" not in content[:_PDF_HEAD_BYTES]:
        raise UndecodableText(f"The type says PDF, but the file begins with {_begins(content)}, not with %PDF-.")
    return _estimate(len(content) * _PDF_SHARE, None)


def _page(content: bytes, charset: str | None) -> Found:
    source = decode_page(content, charset)
    if not has_words(source):
        raise EmptyDocument("The page is empty: there is nothing to search or to cite.")
    return _estimate(len(source) * _HTML_SHARE, page_title(source))


def _estimate(characters: float, title: str | None) -> Found:
    return Found(min(int(characters) + 1, settings.CONVERTED_TEXT_MAX_BYTES), title)


def _check_docx(content: bytes) -> None:
    if content.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise UndecodableText(
            "The file is an old Word document (.doc) or one that is locked with a password. "
            "Save it as .docx without a password."
        )
    if not content.startswith(b"PK\x03\x04"):
        raise UndecodableText(
            f"The type says Word document, but the file begins with {_begins(content)}, not as a ZIP archive."
        )
    # Names stand unpacked in an archive.
    if b"[Content_Types].xml" not in content or b"word/" not in content:
        raise UndecodableText(
            "The type says Word document, but the file is another ZIP archive: it has no folder 'word'."
        )


def _begins(content: bytes) -> str:
    return " ".join(f"0x{byte:02X}" for byte in content[:4])
