"""The model's text into sentences with their citation markers, as it arrives. Pure; judges nothing.

Where a text is cut depends only on the text, never on the pieces in which it came: a streamed answer and a
whole one are cut alike.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKER = r"\[\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*\]"
_END = re.compile(
    # End signs, closing quotes, markers that trail them, white space; what follows must already be there
    # and must open a new sentence. A line break always ends one. Ideographic signs need no space.
    rf"(?:[.!?…]+[\"'”’)]*(?:[ \t]*{_MARKER})*\s+(?=[^\s\[a-z])"
    rf"|[。！？]+[”’」』）]*(?:[ \t]*{_MARKER})*\s*(?=[^\s\[])"
    rf"|(?<=\])\s+(?=[A-ZÀ-Þ])"
    rf"|[ \t]*\n\s*(?=[^\s\[]))"
)
_MARKERS = re.compile(rf"\s*({_MARKER})")
_LAST_SIGNS = re.compile(r"([.!?…:;,。！？]*)([\"'”’)」』）]*)\s*$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|incl|excl|approx|no|nr|mr|mrs|ms|dr|st|vs|cf|art|min|max|[A-Z])\.$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` without markers and end sign, the cited numbers in their order, the end sign, the gap before it."""

    text: str
    cited: tuple[int, ...]
    end: str
    gap: str


class SentenceReader:
    """Takes the text in pieces and gives each sentence as soon as its end is certain."""

    def __init__(self) -> None:
        self._buffer = ""
        self._gap = ""

    def feed(self, piece: str) -> Iterator[Sentence]:
        """The sentences that became complete."""
        self._buffer += piece
        position = 0
        while end := _END.search(self._buffer, position):
            position = end.end()
            if not _ABBREVIATION.search(self._buffer[: end.end()].rstrip()[-12:]):
                yield from self._cut(position)
                position = 0

    def finish(self) -> Iterator[Sentence]:
        """What is left when the text is over."""
        yield from self._cut(len(self._buffer))

    def _cut(self, length: int) -> Iterator[Sentence]:
        raw, self._buffer = self._buffer[:length], self._buffer[length:]
        gap, self._gap = self._gap, "\n" if "\n" in raw[len(raw.rstrip()) :] else " "
        if raw.strip():
            yield _sentence(raw, gap)


def _sentence(raw: str, gap: str) -> Sentence:
    cited = tuple(dict.fromkeys(int(n) for marker in _MARKERS.findall(raw) for n in re.findall(r"\d+", marker)))
    bare = " ".join(_MARKERS.sub("", raw).split(" ")).strip()
    signs = _LAST_SIGNS.search(bare)
    end = signs[1] if signs else ""
    text = bare[: signs.start()] + signs[2] if signs else bare
    return Sentence(text.strip(), cited, end or ".", gap)
