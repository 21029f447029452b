"""Recognises what one line opens, by the rules of CommonMark 0.31 and the tables of GFM.

Everything here looks at one line without its line end, tabs already expanded. The memory of what is open lives in
`blocks`. Every pattern runs in time linear to its line, so a line of a megabyte is no special case.
"""

import re

_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_BACKTICKS = re.compile(r"(`{3,})[^`]*$")
_TILDES = re.compile(r"(~{3,})")
_RULE_MARKS = frozenset("*-_")
_BULLET = re.compile(r"[-+*](?= |$)")
_ORDERED = re.compile(r"(\d{1,9})([.)])(?= |$)")
_SETEXT = re.compile(r"(=+|-+) *$")
_TABLE_MARKS = frozenset("|-: ")
_DELIMITERS = re.compile(r"\|?(?: *:?-++:? *\|)*+(?: *:?-++:? *)?$")
_ESCAPED_PIPE = re.compile(r"\\.")
# A tag that stands alone may be tested up to this length; no real one is longer.
_LONGEST_LONE_TAG = 2_000

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_ATTRIBUTE = r"""\s+[a-zA-Z_:][\w:.-]*+(?:\s*=\s*(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?"""
_LONE_TAG = re.compile(rf"(?:<[a-zA-Z][a-zA-Z0-9-]*+(?:{_ATTRIBUTE})*\s*/?>|</[a-zA-Z][a-zA-Z0-9-]*+\s*>)\s*$")

_RAW_TAGS = "script|pre|style|textarea"
# Start and end of the HTML blocks 1 to 5; the others end at a blank line.
_HTML = (
    (re.compile(rf"<(?:{_RAW_TAGS})(?:\s|>|$)", re.I), re.compile(rf"</(?:{_RAW_TAGS})>", re.I)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![a-zA-Z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)
_HTML_BLOCK = re.compile(rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.I)
ENDS_AT_BLANK = re.compile(r"(?!)")


def indent_of(line: str) -> int:
    """The number of blanks before the first other character."""
    return len(line) - len(line.lstrip(" "))


def heading_level(line: str) -> int:
    """1 to 6 for an ATX heading, 0 otherwise."""
    found = _ATX.match(line)
    return len(found[1]) if found else 0


def fence_of(line: str) -> str:
    """The run of backticks or tildes that opens a fence, or nothing."""
    found = _BACKTICKS.match(line) if line.startswith("`") else _TILDES.match(line)
    return found[1] if found else ""


def closes_fence(line: str, fence: str) -> bool:
    """Whether the line ends a block that `fence` opened: the same mark, at least as long, nothing else."""
    if indent_of(line) > 3:
        return False
    marks = line.strip(" ")
    return len(marks) >= len(fence) and not marks.strip(fence[0])


def is_rule(line: str) -> bool:
    """Whether the line is a thematic break."""
    mark = line[:1]
    return mark in _RULE_MARKS and line.count(mark) >= 3 and not line.strip(mark + " ")


def setext_level(line: str) -> int:
    """1 or 2 for a line that turns the paragraph above into a heading, 0 otherwise."""
    found = _SETEXT.match(line)
    return 0 if found is None else 1 if found[1][0] == "=" else 2


def item_of(line: str, *, interrupts: bool) -> tuple[str, int] | None:
    """The kind of list and the width of marker and blanks; `interrupts` says that a paragraph stands open."""
    found = _BULLET.match(line) or _ORDERED.match(line)
    if found is None:
        return None
    rest = line[found.end() :]
    is_empty = not rest.strip(" ")
    if interrupts and (is_empty or (found.lastindex and int(found[1]) != 1)):
        return None
    blanks = indent_of(rest)
    # An empty item or one that starts with indented code counts one blank only.
    width = found.end() + (1 if is_empty or blanks > 4 else blanks)
    return (found[2] if found.lastindex else found[0]), width


def html_end_of(line: str, *, interrupts: bool) -> re.Pattern[str] | None:
    """The pattern that ends the HTML block which this line opens; `ENDS_AT_BLANK` for those a blank line ends."""
    if not line.startswith("<"):
        return None
    for start, end in _HTML:
        if start.match(line):
            return end
    if _HTML_BLOCK.match(line):
        return ENDS_AT_BLANK
    is_lone = not interrupts and len(line) <= _LONGEST_LONE_TAG and _LONE_TAG.match(line)
    return ENDS_AT_BLANK if is_lone else None


def opens_block(line: str) -> bool:
    """Whether the line ends a table because it opens something else."""
    if indent_of(line) > 3:
        return True
    line = line.lstrip(" ")
    return bool(
        line.startswith(">")
        or heading_level(line)
        or fence_of(line)
        or is_rule(line)
        or item_of(line, interrupts=True)
        or html_end_of(line, interrupts=True)
    )


def is_table(header: str, delimiters: str) -> bool:
    """Whether two lines are the head of a table: a row of dashes between pipes, and as many cells above it."""
    head, line = header.strip(" "), delimiters.strip(" ")
    if "|" not in line or "-" not in line or "|" not in head or not _TABLE_MARKS.issuperset(line):
        return False
    # A dash and a blank begin a list item, not a row of dashes.
    if indent_of(delimiters) > 3 or line.startswith("- ") or not _DELIMITERS.match(line):
        return False
    return _cells(head) == _cells(line)


def _cells(row: str) -> int:
    plain = _ESCAPED_PIPE.sub("..", row)
    return plain.count("|") + 1 - plain.startswith("|") - plain.endswith("|")
