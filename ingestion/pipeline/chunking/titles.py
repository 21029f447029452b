"""Cleans headings of their Markdown decoration. Shows and embeds the words only; never changes the text itself.

Every pattern is linear in the heading: marks are taken off at the edges of words, not paired.
"""

import html
import re

from ingestion.pipeline.chunking.graphemes import clip_graphemes

LONGEST_TITLE = 200
# Enough source for 200 characters of words, however long the line is.
_LONGEST_SOURCE = 1_000

_MARKS = re.compile(r"[*_~`<\[\\&]")
_OPENING = re.compile(r"#{1,6}(?:\s+|$)")
_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\([^()]*+\)|\[[^\[\]]*+\])?")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]++)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
_CODE = re.compile(r"`+([^`]++)`+")
_EMPHASIS = re.compile(r"(?<![\w\\*_~])(?:[*_]{1,3}|~~)(?=\S)|(?<=[^\s\\*_~])(?:[*_]{1,3}|~~)(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def clean_title(source: str, *, is_atx: bool) -> str:
    """The words of a heading's source, on one line, at most 200 characters, never cut inside a grapheme."""
    source = source[:_LONGEST_SOURCE].strip()
    if is_atx:
        source = _without_closing(_OPENING.sub("", source, count=1))
    # Every second part is a code span, whose marks are its content.
    parts = _CODE.split(source)
    words = "".join(part.strip() if at % 2 else _without_marks(part) for at, part in enumerate(parts))
    return clip_graphemes(" ".join(words.split()), LONGEST_TITLE).strip()


def _without_closing(source: str) -> str:
    bare = source.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else source


def _without_marks(source: str) -> str:
    if not _MARKS.search(source):
        return source
    words = _AUTOLINK.sub(r"\1", source)
    words = _TAG.sub("", _LINK.sub(r"\1", words))
    return html.unescape(_ESCAPE.sub(r"\1", _EMPHASIS.sub("", words)))
