"""Markdown into plain sentences that can stand in a reply. Pure; chooses none of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# A reply quotes no monster: what is longer is cut at a space, and a line without spaces hard.
MOST_CHARS = 400

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+\s*)$")
_TABLE_EDGE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|[。！？]+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|incl|excl|approx|no|nr|mr|mrs|ms|dr|st|vs|cf|art|min|max)\.$", re.I
)
_INLINE = (
    (re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:\s\"[^\"]{0,200}\")?\)"), r"\1"),
    (re.compile(r"\[\^[^\[\]]{1,50}\]"), ""),
    # A bracketed number would read as a citation of ours.
    (re.compile(r"\[(\d{1,9})\]"), r"(\1)"),
    (re.compile(r"</?[A-Za-z][^<>]{0,200}>"), " "),
    (re.compile(r"\*\*|~~|`"), ""),
    (re.compile(r"(?<!\w)([*_]{1,3})([^\s*_][^*_]{0,300}?)\1(?!\w)"), r"\2"),
    (re.compile(r"\\([^\w\s])"), r"\1"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One plain sentence, list item or table row, with the headings and the lead-in line above it."""

    text: str
    context: str = ""


@dataclass(slots=True)
class _Reader:
    headings: dict[int, str] = field(default_factory=dict)
    lead_in: str = ""
    paragraph: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    found: list[Sentence] = field(default_factory=list)

    def flush(self) -> None:
        text = plain(" ".join(self.paragraph))
        self.paragraph = []
        if text:
            self.emit(text)

    def emit(self, text: str) -> None:
        context = " ".join([*self.headings.values(), self.lead_in]).strip()
        self.found.extend(Sentence(part, context) for part in split(text))

    def enter(self, level: int, heading: str) -> None:
        self.flush()
        self.lead_in = ""
        self.headings = {depth: title for depth, title in self.headings.items() if depth < level}
        self.headings[level] = heading

    def read_row(self, line: str) -> None:
        cells = _cells(line)
        if len(cells) == len(self.header):
            pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(self.header, cells, strict=True) if cell]
            self.emit("; ".join(pairs))
        else:
            self.emit("; ".join(cell for cell in cells if cell))

    def read_text(self, line: str) -> None:
        if item := _ITEM.match(line):
            if self.paragraph and self.paragraph[-1].rstrip().endswith(":"):
                self.lead_in = plain(self.paragraph[-1])
            self.flush()
            line = line[item.end() :]
        elif not self.paragraph:
            self.lead_in = ""
        self.paragraph.append(line)


def sentences(markdown: str) -> list[Sentence]:
    """Every sentence of the text in its order, without headings, decoration and front matter."""
    reader = _Reader()
    lines = without_front_matter(markdown).split("\n")
    fenced = False
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if _FENCE.match(line):
            reader.flush()
            fenced = not fenced
        elif fenced or not line.strip():
            reader.flush()
            reader.header = []
            if line.strip():
                reader.emit(plain(line))
        else:
            _read_line(reader, line.lstrip(" >") if line.lstrip().startswith(">") else line, below)
    reader.flush()
    return reader.found


def first_heading(markdown: str) -> str | None:
    """The text of the first heading that has one, None without."""
    for line in without_front_matter(markdown).split("\n"):
        if (match := _HEADING.match(line)) and (heading := plain(match[2] or "")):
            return heading
    return None


def plain(text: str) -> str:
    """The text without Markdown's inline decoration, its white space single."""
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return text.strip()


def split(text: str) -> list[str]:
    """The text cut after each sentence, no part longer than `MOST_CHARS`."""
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        candidate = text[start : end.end()].strip()
        if text[end.end() : end.end() + 1].islower() or _ABBREVIATION.search(candidate[-12:]):
            continue
        parts.append(candidate)
        start = end.end()
    return [short for part in (*parts, text[start:].strip()) for short in _cut(part)]


def without_front_matter(markdown: str) -> str:
    """The text after a closed block of `---` lines at its top, or all of it."""
    if not markdown.startswith("---\n"):
        return markdown
    end = markdown.find("\n---", 3)
    return markdown[end + 4 :] if end >= 0 else markdown


def _read_line(reader: _Reader, line: str, below: str) -> None:
    if heading := _HEADING.match(line):
        reader.enter(len(heading[1]), plain(heading[2] or ""))
    elif _is_row(line) and _is_row(below) and _TABLE_EDGE.match(below):
        reader.flush()
        reader.header = [plain(cell) for cell in _cells(line)]
    elif reader.header and _is_row(line):
        if not _TABLE_EDGE.match(line):
            reader.read_row(line)
    elif _RULE.match(line):
        reader.flush()
    else:
        reader.header = []
        reader.read_text(line)


def _is_row(line: str) -> bool:
    return "|" in line


def _cells(line: str) -> list[str]:
    return [plain(cell) for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _cut(text: str) -> Iterator[str]:
    while len(text) > MOST_CHARS:
        space = text.rfind(" ", MOST_CHARS // 2, MOST_CHARS)
        end = space if space > 0 else MOST_CHARS
        yield text[:end].strip()
        text = text[end:].strip()
    if text:
        yield text
