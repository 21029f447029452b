"""Which lines of a Markdown text are ordinary sentences, and where their section begins.

Just enough Markdown for making editions; cutting a text into chunks is the pipeline's business.
"""

import re
from collections.abc import Iterator, Sequence

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
# Tables, quotes, footnote and link definitions, rules, and code by indentation are left alone.
NOT_PROSE = re.compile(r"\s*[|>]|\s*\[[^\]]+\]:|\s*(?:[-*_=]\s*){3,}$|(?: {4}|\t)")


def prose_lines(lines: Sequence[str]) -> list[int]:
    """Return the indices of the lines that hold sentences, outside front matter, fences, tables and quotes."""
    return [i for i, line in _open_lines(lines) if line.strip() and not _is_structure(line)]


def section_start(lines: Sequence[str], place: int) -> int:
    """Return the index just behind the nearest heading above `place`, or behind the front matter if there is none."""
    headings = [i for i, line in _open_lines(lines) if i < place and HEADING.match(line)]
    return headings[-1] + 1 if headings else front_matter_length(lines)


def front_matter_length(lines: Sequence[str]) -> int:
    """Return how many lines the YAML block at the very start takes, both rules included; 0 without one."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((i + 1 for i, line in enumerate(lines) if i and line.rstrip() == "---"), 0)


def _is_structure(line: str) -> bool:
    return bool(HEADING.match(line) or NOT_PROSE.match(line))


def _open_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines behind the front matter that are neither inside a fence nor its markers."""
    fence = ""
    for i in range(front_matter_length(lines), len(lines)):
        match = FENCE.match(lines[i])
        if not fence and not match:
            yield i, lines[i]
        elif not fence and match:
            fence = match.group(1)
        elif match and match.group(1).startswith(fence) and not lines[i][match.end() :].strip():
            fence = ""
