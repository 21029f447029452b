"""HTML to Markdown. Walks the tree of an HTML5 parser (Lexbor, through selectolax) without recursion.

What a reader doesn't see (scripts, styles, templates, hidden elements) is left out: text that only a program sees is
where orders to an assistant are hidden. Links keep their words, images their alternative text.
"""

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingestion.pipeline.converting.markdown import Markdown
from ingestion.pipeline.converting.refusals import empty
from ingestion.pipeline.converting.tables import is_layout, table_rows

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNSEEN = frozenset({"head", "script", "style", "template", "iframe", "canvas", "audio", "video", "-comment"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "legend",
    "li", "main", "menu", "nav", "ol", "option", "p", "section", "summary", "table", "tbody", "td", "tfoot",
    "th", "thead", "tr", "ul", "caption",
})  # fmt: skip
_MARKS = {"q": ("“", "”"), "del": ("~~", "~~"), "s": ("~~", "~~"), "strike": ("~~", "~~"), "sup": ("^", "")}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def page_to_markdown(source: str, most: int) -> str:
    """The Markdown of a page, at most `most` characters; a page without a heading of level 1 gets its title as one."""
    tree = LexborHTMLParser(source)
    markdown = Markdown(most)
    if tree.body is not None:
        write_tree(tree.body, markdown)
    text = markdown.text()
    if not text.strip():
        raise empty("The page shows no text: there is nothing to search or to cite.")
    title = tree.css_first("title")
    if title is None or tree.css_first("h1") is not None or not (words := title.text().strip()):
        return text
    head = Markdown(most)
    head.say(words)
    head.heading(1)
    return head.text() + "\n" + text


def write_tree(root: LexborNode, markdown: Markdown) -> None:
    """Writes everything below `root`, in reading order."""
    walker = _Walker(markdown)
    for node, is_end in _events(root, walker):
        if is_end:
            walker.leave(node)
    markdown.paragraph()


def _events(root: LexborNode, walker: "_Walker") -> Iterator[tuple[LexborNode, bool]]:
    """Each node that is left; the walker says on entering whether its children are walked too."""
    stack = [root.child]
    open_nodes: list[LexborNode] = []
    while stack:
        node = stack[-1]
        if node is None:
            stack.pop()
            if open_nodes:
                yield open_nodes.pop(), True
            continue
        stack[-1] = node.next
        if walker.enter(node):
            open_nodes.append(node)
            stack.append(node.child)


class _Walker:
    """Turns the begin and end of elements into the writer's calls."""

    def __init__(self, markdown: Markdown) -> None:
        self._markdown = markdown
        # The next number of each open list; 0 for one without numbers.
        self._lists: list[int] = []

    def enter(self, node: LexborNode) -> bool:
        """Whether the node's children are to be walked, and `leave` be called behind them."""
        tag = node.tag or ""
        if tag == "-text":
            self._markdown.say(node.text_content or "")
            return False
        if tag in _UNSEEN or is_hidden(node):
            return False
        if whole := _WHOLE.get(tag):
            return whole(self._markdown, node)
        if tag in _BLOCKS or tag in _HEADINGS:
            self._markdown.paragraph()
        if tag in ("ul", "ol", "menu", "dir"):
            self._lists.append(_first_number(node) if tag == "ol" else 0)
        elif tag == "li":
            self._markdown.open_item(self._marker())
        elif tag == "blockquote":
            self._markdown.open_quote()
        elif tag in _MARKS:
            self._markdown.say(_MARKS[tag][0])
        return True

    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._markdown.heading(_HEADINGS[tag])
        elif tag in ("li", "blockquote"):
            self._markdown.close()
        elif tag in _BLOCKS:
            self._markdown.paragraph()
        elif tag in _MARKS:
            self._markdown.say(_MARKS[tag][1])
        if tag in ("ul", "ol", "menu", "dir"):
            self._lists.pop()

    def _marker(self) -> str:
        if not self._lists or not self._lists[-1]:
            return "-"
        number = self._lists[-1]
        self._lists[-1] += 1
        return f"{number}."


def is_hidden(node: LexborNode) -> bool:
    """Whether a browser shows nothing of the element."""
    attributes = node.attributes
    return "hidden" in attributes or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def _first_number(node: LexborNode) -> int:
    start = node.attributes.get("start") or "1"
    return int(start) if start.isascii() and start.isdigit() and 0 < len(start) < 7 and int(start) else 1


def _code_block(markdown: Markdown, node: LexborNode) -> bool:
    markdown.fence(node.text())
    return False


def _code(markdown: Markdown, node: LexborNode) -> bool:
    words = node.text()
    mark = "``" if "`" in words else "`"
    markdown.say(f"{mark}{words}{mark}" if words.strip() else words)
    return False


def _table(markdown: Markdown, node: LexborNode) -> bool:
    if is_layout(node):
        markdown.paragraph()
        return True
    markdown.paragraph()
    caption, rows, has_header = table_rows(node, is_hidden)
    markdown.say(caption)
    markdown.table(rows, has_header=has_header)
    return False


def _image(markdown: Markdown, node: LexborNode) -> bool:
    markdown.say(node.attributes.get("alt") or "")
    return False


def _line_break(markdown: Markdown, node: LexborNode) -> bool:
    markdown.break_line()
    return False


def _rule(markdown: Markdown, node: LexborNode) -> bool:
    markdown.rule()
    return False


# Elements that are written at once.
_WHOLE: dict[str, Callable[[Markdown, LexborNode], bool]] = {
    "pre": _code_block, "code": _code, "kbd": _code, "samp": _code, "table": _table, "img": _image,
    "br": _line_break, "hr": _rule,
}  # fmt: skip
