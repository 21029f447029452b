"""What stands open after the lines so far: the containers around and the leaf inside, by the rules of CommonMark.

The phases of its reference: match the containers, then open what the rest of the line begins, else go on lazily. Sees
one line at a time; tables and the bounds of blocks, which need two, are in `blocks`.
"""

import re
from dataclasses import dataclass, field

from ingestion.pipeline.chunking import lines

# Deeper quotes and lists than any reader follows; keeps a line of half a million marks cheap.
_DEEPEST = 20
_QUOTE = 0


@dataclass(slots=True)
class OpenBlocks:
    """What stands open after the lines so far: the containers around, and the leaf inside them."""

    containers: list[int] = field(default_factory=list)
    leaf: str = ""
    fence: str = ""
    html_end: re.Pattern[str] = lines.ENDS_AT_BLANK
    is_item_empty: bool = False
    marker: str = ""
    last_marker: str = ""
    level: int = 0

    def feed(self, line: str) -> str:
        """The kind of top-level block that the line opens; nothing where it belongs to the one in hand."""
        rest, matched = self._match(line)
        if matched == len(self.containers) and self.leaf in ("fence", "html"):
            self._feed_raw(rest)
            return ""
        if not rest or rest.isspace():
            self._feed_blank(matched)
            return ""
        return self._open(rest, matched)

    def _match(self, line: str) -> tuple[str, int]:
        for depth, container in enumerate(self.containers):
            indent = lines.indent_of(line)
            if container == _QUOTE:
                if indent > 3 or line[indent : indent + 1] != ">":
                    return line, depth
                line = line[indent + 1 :].removeprefix(" ")
            elif indent >= container:
                line = line[container:]
            elif line and not line.isspace():
                return line, depth
        return line, len(self.containers)

    def _feed_raw(self, rest: str) -> None:
        if self.leaf == "fence":
            is_over = lines.closes_fence(rest, self.fence)
        elif self.html_end is lines.ENDS_AT_BLANK:
            is_over = not rest or rest.isspace()
        else:
            is_over = bool(self.html_end.search(rest))
        if is_over:
            self.leaf = ""

    def _feed_blank(self, matched: int) -> None:
        if matched < len(self.containers) or self.leaf != "code":
            self.leaf = ""
        if self.is_item_empty and matched == len(self.containers):
            # An item may begin with one blank line, not with two.
            self.containers.pop()
        del self.containers[matched:]
        self.is_item_empty = False

    def _open(self, rest: str, matched: int) -> str:
        in_paragraph = self.leaf == "paragraph"
        is_inside = matched == len(self.containers)
        self.is_item_empty = False
        opened = ""
        while True:
            may_lazily_go_on = in_paragraph and not opened
            depth = len(self.containers) if opened else matched
            kind, rest_after, width = self._start(rest, depth, may_lazily_go_on, may_lazily_go_on and is_inside)
            if kind == "paragraph" and may_lazily_go_on:
                return ""
            if kind == "code" and self.leaf == "code" and is_inside and not opened:
                return ""
            if not opened:
                del self.containers[matched:]
                opened = kind
                self.marker = self.last_marker if matched == 0 else self.marker
            if kind not in ("quote", "list"):
                break
            self.containers.append(width)
            self.leaf = ""
            rest = rest_after
            if not rest or rest.isspace():
                self.is_item_empty = kind == "list"
                return opened if matched == 0 else ""
        self.leaf = "" if kind in ("heading", "setext", "rule") else kind
        if kind == "html" and self.html_end.search(rest):
            self.leaf = ""
        return opened if matched == 0 else ""

    def _start(self, rest: str, depth: int, lazy: bool, interrupts: bool) -> tuple[str, str, int]:
        indent = lines.indent_of(rest)
        if indent > 3:
            return ("paragraph" if lazy else "code"), rest, 0
        line = rest[indent:]
        if depth >= _DEEPEST:
            return "paragraph", rest, 0
        if line[0] == ">":
            return "quote", line[1:].removeprefix(" "), _QUOTE
        if level := lines.heading_level(line):
            self.level = level
            return "heading", rest, 0
        if fence := lines.fence_of(line):
            self.fence = fence
            return "fence", rest, 0
        if (html_end := lines.html_end_of(line, interrupts=lazy)) is not None:
            self.html_end = html_end
            return "html", rest, 0
        if interrupts and (level := lines.setext_level(line)):
            self.level = level
            return "setext", rest, 0
        if lines.is_rule(line):
            return "rule", rest, 0
        if item := lines.item_of(line, interrupts=interrupts):
            self.last_marker, width = item
            return "list", line[width:], indent + width
        return "paragraph", rest, 0
