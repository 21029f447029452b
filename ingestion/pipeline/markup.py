"""What can be told of an HTML page without parsing it: its text behind the encoding, and its title."""

import html
import re

from ingestion.pipeline.chunking.graphemes import clip_graphemes
from ingestion.pipeline.chunking.titles import LONGEST_TITLE
from ingestion.pipeline.decoding import decode

# A page declares its encoding and title near its start; browsers look at the first 1,024 bytes for the former.
_HEAD_BYTES = 4_096
_HEAD_CHARACTERS = 65_536
_META = re.compile(rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"\A\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]{0,200}>([^<]{1,2000})</title", re.IGNORECASE)


def decode_page(content: bytes, charset: str | None) -> str:
    """The page's source. What the request declares wins over what the page declares, a mark and UTF-8 over both."""
    head = content[:_HEAD_BYTES]
    found = _XML.search(head) or _META.search(head)
    return decode(content, charset or (found[1].decode("ascii") if found else None))


def page_title(source: str) -> str | None:
    """The words of the `title` element, on one line, at most 200 characters."""
    found = _TITLE.search(source, 0, _HEAD_CHARACTERS)
    words = " ".join(html.unescape(found[1]).split()) if found else ""
    return clip_graphemes(words, LONGEST_TITLE).strip() or None
