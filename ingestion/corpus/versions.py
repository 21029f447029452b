"""Later editions of a policy: small, marked changes that are the same for the same seed.

Pure text in, text out. Files, uploads and progress belong to the `makeversions` command.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import TypeVar

from ingestion.corpus.prose import prose_lines, section_start

T = TypeVar("T")

# Numbers that a policy may well change from one edition to the next; years, times and codes are none of them.
CHANGEABLE = re.compile(
    r"(?<![\w.,:/€–-])([1-9]\d{0,2})(?= (?:working days|days|nights|weeks|months|hours|minutes)\b)"
    r"|(?<=€)([1-9]\d{0,2})(?![\d.,–-])"
)
NOTES = (
    "Until the end of the quarter the help desk may add {n} days to this where a strike or a storm was the cause.",
    "Cases that began before this edition keep the earlier rule for {n} more days.",
    "A team lead reviews exceptions to this section every {n} days.",
    "Colleagues who are unsure ask their team lead; an answer comes within {n} hours.",
    "The wording of this section was shortened after {n} questions from stores.",
)
# The corpus itself is edition 1.
FIRST_LATER_EDITION = 2


def make_version(text: str, *, slug: str, seed: int, number: int) -> str:
    """Return edition `number` of the policy: one number raised, one short paragraph added, both named in a mark.

    The same text, slug, seed and number give the same edition; another seed or number gives another text. Front
    matter, fences, tables and headings stay as they are, and so do the line ends. A text without a changeable number
    gets the paragraph and the mark alone.
    """
    lines = re.split(r"(?<=\n)", text)
    key = f"{seed}:{slug}:{number}"
    change, place = _raise_one_number(lines, key)
    note = _pick(NOTES, f"{key}:note").format(n=2 + _draw(f"{key}:n") % 28)
    mark = f"> Changed in edition {number} (seed {seed}): {change}"
    start = section_start(lines, place)
    lines[start:start] = _as_paragraphs((mark, note), lines, start)
    return "".join(lines)


def make_versions(texts: Mapping[str, str], *, seed: int, count: int) -> Iterator[tuple[str, int, str]]:
    """Yield `count` later editions as (slug, edition number, text), going round the documents in a seeded order.

    Every edition is made from the original text, so that editions do not pile up marks. Numbers begin at 2.
    """
    if count < 0:
        raise ValueError(f"count must not be negative: {count}")
    return islice(_editions(texts, seed), count)


def _editions(texts: Mapping[str, str], seed: int) -> Iterator[tuple[str, int, str]]:
    order = sorted(texts, key=lambda slug: (_draw(f"{seed}:{slug}"), slug))
    number = FIRST_LATER_EDITION
    while order:
        for slug in order:
            yield slug, number, make_version(texts[slug], slug=slug, seed=seed, number=number)
        number += 1


def _raise_one_number(lines: list[str], key: str) -> tuple[str, int]:
    """Change one number in place; return the words for the mark and the index of the line."""
    prose = prose_lines(lines)
    found = [(index, match) for index in prose for match in CHANGEABLE.finditer(lines[index])]
    if not found:
        return "one note was added.", _pick(prose, f"{key}:line") if prose else len(lines)
    index, match = _pick(found, f"{key}:number")
    old = int(match.group())
    new = old + 1 + _draw(f"{key}:step") % max(2, old // 2)
    line = lines[index]
    lines[index] = f"{line[: match.start()]}{new}{line[match.end() :]}"
    return f"{old} became {new}, and one note was added.", index


def _as_paragraphs(paragraphs: Sequence[str], lines: list[str], start: int) -> list[str]:
    """Return the paragraphs as lines with a blank line around each, in the text's own kind of line end."""
    end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    before = lines[start - 1] if start else ""
    inserted = [] if before.endswith("\n") or not before else [end]
    for paragraph in paragraphs:
        inserted += [end, paragraph + end]
    # Behind a heading a blank line follows already; elsewhere the next paragraph must not be drawn into ours.
    return inserted if start < len(lines) and not lines[start].strip() else [*inserted, end]


# A digest and not `random`: its output is fixed for all Python versions, so measured runs can be repeated.
def _draw(key: str) -> int:
    return int.from_bytes(sha256(key.encode()).digest()[:8])


def _pick(options: Sequence[T], key: str) -> T:
    return options[_draw(key) % len(options)]
