"""Counts and clips text by the provider's tokens (cl100k_base), exactly and without the network.

The rank table comes from the installed `bpe-openai` package; the engine is `tiktoken`. Importing the engine of
`bpe-openai` itself builds the tables of three encodings and costs a process about 93 MiB, which a worker that must
stay below 150 MiB can't pay; this pair costs about 30. Special tokens such as `<|endoftext|>` are plain text here:
what a user writes must never act as a control word. No other module may name an encoding.
"""

import base64
import gzip
import threading
from importlib.util import find_spec
from pathlib import Path

import tiktoken

# The split of cl100k_base into words before merging, as published with the encoding.
_WORDS = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# No token of cl100k_base is longer (the longest are runs of blanks).
LONGEST_TOKEN_CHARACTERS = 128
# A longer text is counted in slices: one word of a megabyte makes the engine hold 40 MiB.
_SLICE_CHARACTERS = 50_000

# Words that are remembered, some 3 MiB: the vocabulary of many policies. A longer word is rarely met again.
_MOST_WORDS = 30_000
_LONGEST_WORD = 24

_loading = threading.Lock()
_loaded: tiktoken.Encoding | None = None


def count_tokens(text: str) -> int:
    """The number of tokens of `text`; above 50,000 characters at most one too many for each further 50,000."""
    encoding = _loaded or _encoding()
    if len(text) <= _SLICE_CHARACTERS:
        return len(encoding.encode_ordinary(text))
    return sum(
        len(encoding.encode_ordinary(text[start : start + _SLICE_CHARACTERS]))
        for start in range(0, len(text), _SLICE_CHARACTERS)
    )


def most_tokens(text: str) -> int:
    """At least as many tokens as `text` has, in a fraction of the time that counting them takes.

    A word with the blank before it is split alike wherever it stands, so that the sum over the words is exact but for
    blanks, of which none has more tokens than bytes. Where other blanks or longer gaps occur, it is the bytes.
    """
    size = len(text) if text.isascii() else len(text.encode())
    if size > len(text) * 3 // 2:
        # Scripts of two and three bytes a letter: the words of many are never met again.
        return size
    words = text.split()
    line_ends = text.count("\n")
    if len("".join(words)) + text.count(" ") + line_ends < len(text) or "\n\n\n" in text:
        return size
    # Each odd blank goes with the word behind it, save those at the end of a line or of the text.
    blanks = 2 * text.count("  ") + text.count(" \n") + 1
    return sum(map(_most.__getitem__, words)) + line_ends + blanks


class _WordTokens(dict[str, int]):
    """The most tokens of a word, with a blank or nothing before it, and with up to two line ends behind it."""

    def __missing__(self, word: str) -> int:
        if len(word) > _LONGEST_WORD or len(self) >= _MOST_WORDS:
            return len(word.encode()) + 1
        forms = (word, " " + word)
        most = max(map(count_tokens, forms))
        if not (word[-1].isascii() and word[-1].isalnum()):
            # Marks at a word's end are merged with the line ends behind them.
            most = max(most, *(count_tokens(form + "\n" * ends) - ends for form in forms for ends in (1, 2)))
        self[word] = most
        return most


_most = _WordTokens()


def clip_tokens(text: str, max_tokens: int) -> str:
    """The start of `text` that has at most `max_tokens` tokens and ends between two characters."""
    if len(text) <= max_tokens and text.isascii():
        # No token is shorter than a byte.
        return text
    encoding = _encoding()
    text = text[: max(max_tokens, 0) * LONGEST_TOKEN_CHARACTERS]
    tokens = encoding.encode_ordinary(text)
    kept = max_tokens
    while len(tokens) > max_tokens:
        # A token may end inside a character, and a shorter text may be merged otherwise: hence the loop.
        text = encoding.decode_bytes(tokens[:kept]).decode("utf-8", errors="ignore")
        tokens = encoding.encode_ordinary(text)
        kept -= 1
    return text


def _encoding() -> tiktoken.Encoding:
    global _loaded
    # The lock keeps two threads from holding two tables at once in the moment of the first call.
    with _loading:
        if _loaded is None:
            _loaded = _load()
    return _loaded


def _load() -> tiktoken.Encoding:
    ranks = _ranks()
    encoding = tiktoken.Encoding("cl100k_base", pat_str=_WORDS, mergeable_ranks=ranks, special_tokens={})
    # The engine has its own copy by now; this one would hold 15 MiB for nothing.
    ranks.clear()
    return encoding


def _ranks() -> dict[bytes, int]:
    # Found without an import, because importing the package loads its engine.
    spec = find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the package bpe-openai, which carries the table of cl100k_base, is not installed")
    table = Path(spec.submodule_search_locations[0]) / "data" / "cl100k_base.tiktoken.gz"
    with gzip.open(table) as lines:
        pairs = (line.split() for line in lines)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}
