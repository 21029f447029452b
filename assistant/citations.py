"""Holds the model to its passages: each sentence that is let out rests on a supplied chunk and says on which.

Pure. The rule: a sentence stays when its markers name supplied passages that hold at least half of its meaningful
words and every number in it. A sentence without a marker is judged by the marker that comes next, and gets it.
All else is dropped; when nothing stays, the answer is that the policies do not say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assistant.passages import Passage
from assistant.prompt import NOT_FOUND
from assistant.quoting import Span, quote
from assistant.sentences import Sentence, SentenceReader
from assistant.wording import numbers, terms

# Part of the cache key: raise it when the rule above changes.
RULE_VERSION = "1"
LEAST_SUPPORT = 0.5
# A marker beside others stays only when its passage holds this share of the sentence itself.
LEAST_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker of the answer and the exact words behind it, `span` inside the passage's text."""

    marker: int
    passage: Passage
    span: Span

    def document(self) -> dict[str, object]:
        """The citation as the API shows it; `start` and `end` are code points into the version's text."""
        passage = self.passage
        return {
            "marker": self.marker,
            "document": passage.document,
            "title": passage.title,
            "version": passage.version,
            "position": passage.position,
            "heading_path": list(passage.heading_path),
            "start": passage.start + self.span.start,
            "end": passage.start + self.span.end,
            "quote": passage.text[self.span.start : self.span.end],
        }


@dataclass
class Citing:
    """Takes the model's text in pieces, lets out checked sentences, and knows the citations at the end."""

    passages: Sequence[Passage]
    answer: str = ""
    has_abstained: bool = False
    _reader: SentenceReader = field(default_factory=SentenceReader)
    _waiting: list[Sentence] = field(default_factory=list)
    # Passage number as supplied → the quote so far; its order is the order of the markers.
    _spans: dict[int, Span] = field(default_factory=dict)
    _terms: dict[int, set[str]] = field(default_factory=dict)

    def feed(self, piece: str) -> Iterator[str]:
        """The text that may be shown now: whole sentences, with final markers."""
        for sentence in self._reader.feed(piece):
            yield from self._judge(sentence)

    def finish(self) -> Iterator[str]:
        """The last of the text; the plain not-found sentence when nothing was let out."""
        for sentence in self._reader.finish():
            yield from self._judge(sentence)
        if not self.answer:
            self.answer = NOT_FOUND
            yield NOT_FOUND

    @property
    def citations(self) -> list[Citation]:
        return [
            Citation(marker, self.passages[number - 1], span)
            for marker, (number, span) in enumerate(self._spans.items(), 1)
        ]

    def _judge(self, sentence: Sentence) -> Iterator[str]:
        if sentence.text.strip(" .").casefold() == NOT_FOUND.strip(".").casefold():
            self.has_abstained = True
            return
        self._waiting.append(sentence)
        if not sentence.cited:
            return
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if resting := self._resting_on(one, sentence.cited):
                yield self._let_out(one, resting)

    def _resting_on(self, sentence: Sentence, cited: tuple[int, ...]) -> list[int]:
        """Those of the cited numbers that carry the sentence; empty when they do not carry it together."""
        said = terms(sentence.text)
        known = [number for number in cited if 1 <= number <= len(self.passages)]
        held = {number: set(said) & self._terms_of(number) for number in known}
        together = set().union(*held.values())
        if not said or not numbers(said) <= together or len(together) < LEAST_SUPPORT * len(set(said)):
            return []
        enough = min(LEAST_SHARE * len(set(said)), max(len(words) for words in held.values()))
        return [number for number, words in held.items() if len(words) >= enough]

    def _terms_of(self, number: int) -> set[str]:
        if number not in self._terms:
            passage = self.passages[number - 1]
            self._terms[number] = set(terms(f"{passage.source}\n{passage.table_header}\n{passage.text}"))
        return self._terms[number]

    def _let_out(self, sentence: Sentence, resting: list[int]) -> str:
        for number in resting:
            span = quote(self.passages[number - 1].text, sentence.text)
            self._spans[number] = span.hull(self._spans.get(number, span))
        order = list(self._spans)
        markers = "".join(f"[{order.index(number) + 1}]" for number in resting)
        shown = f"{sentence.gap if self.answer else ''}{sentence.text} {markers}{sentence.end}"
        self.answer += shown
        return shown
