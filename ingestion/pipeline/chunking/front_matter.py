"""Finds the front matter of a Markdown text: metadata that is neither searched nor cited.

Only a block of YAML between two lines of `---` at the very start counts, and only when every line in it could be YAML:
a page that opens with a thematic break keeps its words.
"""

import re

_FENCE = re.compile(r"---[ \t]*(?:\n|\Z)")
_YAML_LINE = re.compile(r"[ \t]*(?:\n|\Z)|[ \t]|#|-[ \t]|[^:\s][^:\n]*:(?:[ \t\n]|\Z)")
_TITLE = re.compile(r"title:[ \t]+(.+)", re.IGNORECASE)


def front_matter_end(text: str) -> int:
    """The offset behind the front matter and its closing line; 0 where there is none."""
    opening = _FENCE.match(text)
    position = opening.end() if opening else len(text)
    while position < len(text):
        if closing := _FENCE.match(text, position):
            return closing.end()
        if not _YAML_LINE.match(text, position):
            return 0
        position = text.find("\n", position) + 1 or len(text)
    return 0


def front_matter_title(text: str) -> str | None:
    """The value of the top-level key `title`, without quotes; None where it is absent or spans several lines."""
    for line in text[: front_matter_end(text)].split("\n"):
        if found := _TITLE.fullmatch(line.rstrip()):
            return _unquoted(found[1].strip()) or None
    return None


def _unquoted(value: str) -> str:
    if value[:1] in ("|", ">", "&", "*", "[", "{", "!", "#"):
        return ""
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value.split(" #", 1)[0].rstrip()
