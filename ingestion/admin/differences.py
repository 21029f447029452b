"""How two texts differ, line by line and, in changed lines, word by word (pure).

Shortest edit scripts by Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986). Its work grows with the square
of the number of edits, so that number is bounded: beyond it the differing middle is shown as replaced.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

# A script of 500 edits takes a fraction of a second; a longer one nobody reads.
LINE_EDITS_MAX = 500
WORD_EDITS_MAX = 120
WORDS_MAX = 600
# In a longer block lines have no pairs that anybody would compare.
PAIRS_MAX = 100
CONTEXT_LINES = 3
ROWS_MAX = 2_000
LINE_CHARACTERS_MAX = 4_000

Kind = Literal["same", "gone", "new", "gap"]
# ("same" | "gone" | "new", place before, place after)
Edit = tuple[Kind, int, int]


@dataclass(frozen=True)
class Part:
    """A piece of a line; `is_changed` where the other version says it otherwise."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True)
class Row:
    """A line with its number in either version, or a gap that stands for equal lines."""

    kind: Kind
    before: int | None
    after: int | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Difference:
    """`is_exact`: the shortest script, else the middle is shown as replaced. `is_cut`: more rows than are shown."""

    rows: tuple[Row, ...]
    gone: int
    new: int
    is_exact: bool
    is_cut: bool

    @property
    def is_equal(self) -> bool:
        return not (self.gone or self.new)


def compare(before: str, after: str) -> Difference:
    """The rows that tell how the texts differ, in the order of the texts."""
    old, new = before.split("\n"), after.split("\n")
    edits, is_exact = _edits(old, new, LINE_EDITS_MAX)
    rows = _rows(old, new, edits)
    counts = {kind: sum(edit[0] == kind for edit in edits) for kind in ("gone", "new")}
    return Difference(tuple(rows[:ROWS_MAX]), counts["gone"], counts["new"], is_exact, len(rows) > ROWS_MAX)


def _edits(old: Sequence[Hashable], new: Sequence[Hashable], most: int) -> tuple[list[Edit], bool]:
    """What stands at both ends alike is set aside first: that is nearly all of two editions."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found = script(old[head : len(old) - tail], new[head : len(new) - tail], most)
    middle = _replaced(len(old) - tail - head, len(new) - tail - head) if found is None else found
    edits: list[Edit] = [("same", place, place) for place in range(head)]
    edits += [(kind, head + before, head + after) for kind, before, after in middle]
    edits += [("same", len(old) - left, len(new) - left) for left in range(tail, 0, -1)]
    return edits, found is not None


def _replaced(gone: int, new: int) -> list[Edit]:
    """All of the one side gone, all of the other new."""
    lost: list[Edit] = [("gone", place, 0) for place in range(gone)]
    return lost + [("new", gone, place) for place in range(new)]


def script(old: Sequence[Hashable], new: Sequence[Hashable], most: int) -> list[Edit] | None:
    """A shortest edit script; None where it takes more than `most` edits."""
    known: dict[Hashable, int] = {}
    # Numbers compare faster than long lines.
    left, right = ([known.setdefault(one, len(known)) for one in side] for side in (old, new))
    reached: dict[int, int] = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(len(left) + len(right), most) + 1):
        trace.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            earlier = _came_from(reached, diagonal, edits)
            x = reached[earlier] + (earlier < diagonal)
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(left) and x - diagonal >= len(right):
                return _walk_back(trace, len(left), len(right))
    return None


def _came_from(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """The diagonal that the path of so many edits came from: above (an addition) or below (a removal)."""
    goes_down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
    return diagonal + 1 if goes_down else diagonal - 1


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[Edit]:
    """The script, read from the end: `trace` holds how far each diagonal was reached before each round."""
    found: list[Edit] = []
    for edits in range(len(trace) - 1, -1, -1):
        earlier = _came_from(trace[edits], x - y, edits)
        start_x = trace[edits][earlier]
        start_y = start_x - earlier
        while x > start_x and y > start_y:
            x, y = x - 1, y - 1
            found.append(("same", x, y))
        if edits:
            found.append(("new" if x == start_x else "gone", start_x, start_y))
            x, y = start_x, start_y
    return found[::-1]


def _rows(old: list[str], new: list[str], edits: list[Edit]) -> list[Row]:
    rows: list[Row] = []
    equal: list[Edit] = []
    place = 0
    while place < len(edits):
        if edits[place][0] == "same":
            equal.append(edits[place])
            place += 1
            continue
        rows += _context(old, equal, is_first=not rows, is_last=False)
        equal = []
        end = place
        while end < len(edits) and edits[end][0] != "same":
            end += 1
        if len(rows) > ROWS_MAX:
            return rows
        rows += _changed(old, new, edits[place:end])
        place = end
    return rows + (_context(old, equal, is_first=False, is_last=True) if rows else [])


def _context(old: list[str], equal: list[Edit], *, is_first: bool, is_last: bool) -> list[Row]:
    """A few equal lines beside what changed; the others are one gap."""
    before = 0 if is_first else CONTEXT_LINES
    after = 0 if is_last else CONTEXT_LINES
    if len(equal) <= before + after + 1:
        return [_same(old, one) for one in equal]
    hidden = len(equal) - before - after
    gap = Row("gap", None, None, (Part(f"{hidden} equal lines"),))
    tail = equal[len(equal) - after :] if after else []
    return [*(_same(old, one) for one in equal[:before]), gap, *(_same(old, one) for one in tail)]


def _same(old: list[str], edit: Edit) -> Row:
    return Row("same", edit[1] + 1, edit[2] + 1, (Part(_cut(old[edit[1]])),))


def _changed(old: list[str], new: list[str], edits: list[Edit]) -> list[Row]:
    """Removed lines, then added ones; where there are as many of both, each pair has its words marked."""
    gone = [edit[1] for edit in edits if edit[0] == "gone"]
    added = [edit[2] for edit in edits if edit[0] == "new"]
    pairs = zip(gone, added, strict=True) if len(gone) == len(added) <= PAIRS_MAX else ()
    marked = [_words(old[one], new[other]) for one, other in pairs]
    lost = [parts for parts, _ in marked] or [(Part(_cut(old[one])),) for one in gone]
    won = [parts for _, parts in marked] or [(Part(_cut(new[one])),) for one in added]
    rows = [Row("gone", one + 1, None, parts) for one, parts in zip(gone, lost, strict=True)]
    return rows + [Row("new", None, one + 1, parts) for one, parts in zip(added, won, strict=True)]


def _words(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The parts of a changed line on either side, those that differ marked."""
    old, new = (re.findall(r"\s+|\w+|[^\w\s]", _cut(line)) for line in (before, after))
    if max(len(old), len(new)) > WORDS_MAX:
        return (Part(_cut(before)),), (Part(_cut(after)),)
    edits, is_exact = _edits(old, new, WORD_EDITS_MAX)
    if not is_exact:
        return (Part(_cut(before)),), (Part(_cut(after)),)
    lost = [(old[x], kind != "same") for kind, x, _ in edits if kind != "new"]
    won = [(new[y], kind != "same") for kind, _, y in edits if kind != "gone"]
    return _joined(lost), _joined(won)


def _joined(words: list[tuple[str, bool]]) -> tuple[Part, ...]:
    """Neighbours of one kind as one part."""
    parts: list[Part] = []
    for text, is_changed in words:
        if parts and parts[-1].is_changed == is_changed:
            parts[-1] = Part(parts[-1].text + text, is_changed)
        else:
            parts.append(Part(text, is_changed))
    return tuple(parts)


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CHARACTERS_MAX else line[:LINE_CHARACTERS_MAX] + "…"
