"""Counts tokens as the two models do. Special tokens count as the plain text they are written in."""

from collections.abc import Iterable, Sequence
from functools import cache

import bpe_openai

# The tokenizer refuses a million characters; a seam inside a longer text moves its count by a token or two.
SLICE_CHARS = 500_000
# The chat format's own framing: three tokens a message, one for the role, three that open the reply.
TOKENS_PER_MESSAGE = 4
TOKENS_PER_REPLY = 3


@cache
def encoding(name: str) -> bpe_openai.Encoding:
    """The encoding of this name, loaded once."""
    return bpe_openai.get_encoding(name)


def chat_tokens(text: str) -> list[int]:
    """The text as `chat-small` reads it (o200k_base)."""
    return _encode("o200k_base", text)


def embedding_tokens(text: str) -> list[int]:
    """The text as `embed-small` reads it (cl100k_base)."""
    return _encode("cl100k_base", text)


def prompt_tokens(contents: Iterable[str]) -> int:
    """What a chat of these message texts costs before the reply."""
    return TOKENS_PER_REPLY + sum(TOKENS_PER_MESSAGE + len(chat_tokens(content)) for content in contents)


def first_tokens(text: str, limit: int) -> str:
    """The text cut after `limit` chat tokens; a character that the cut splits is dropped."""
    tokens = chat_tokens(text)
    if len(tokens) <= limit:
        return text
    cut: str = encoding("o200k_base").decode(tokens[:limit], errors="ignore")
    return cut


def text_of_embedding_tokens(tokens: Sequence[int]) -> str:
    """The text behind token numbers of `embed-small`; KeyError where a number means nothing."""
    if any(token < 0 for token in tokens):
        raise KeyError("A token number is never negative.")
    text: str = encoding("cl100k_base").decode(tokens, errors="replace")
    return text


def _encode(name: str, text: str) -> list[int]:
    slices = range(0, len(text), SLICE_CHARS)
    return [token for start in slices for token in encoding(name).encode_ordinary(text[start : start + SLICE_CHARS])]
