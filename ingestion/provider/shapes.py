"""Reads the provider's bodies and trusts none of them: shape, order, sizes and numbers are checked. Pure."""

import base64
import binascii
import math
import sys
from array import array
from dataclasses import dataclass
from typing import Any

# More tokens than one request can hold or answer: such a usage is no usage.
MOST_TOKENS = 100_000_000
# Below this length squared a vector has no direction.
SMALLEST_SQUARE = 1e-12


@dataclass(frozen=True)
class Usage:
    """Tokens that the provider charged."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


NO_USAGE = Usage()


class Malformed(Exception):
    """The answer cannot be used; `usage` is what it says was charged, None when it does not say."""

    def __init__(self, detail: str, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.usage = usage


@dataclass(frozen=True)
class ChatShape:
    text: str
    model: str
    usage: Usage


@dataclass(frozen=True)
class EmbeddingShape:
    vectors: list[list[float] | None]
    bad: dict[int, str]
    usage: Usage


def usage_of(body: dict[str, Any]) -> Usage | None:
    """The usage of a body, None when it is missing or no sane numbers."""
    found = body.get("usage")
    if not isinstance(found, dict):
        return None
    prompt, completion = _count(found.get("prompt_tokens")), _count(found.get("completion_tokens", 0))
    return None if prompt is None or completion is None else Usage(prompt, completion)


def _count(found: object) -> int | None:
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 0 <= found <= MOST_TOKENS else None


def chat_shape(body: dict[str, Any]) -> ChatShape:
    """The first choice's text; Malformed unless text, finish reason and usage are there."""
    usage = usage_of(body)
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise Malformed("the chat answer has no text", usage)
    if not isinstance(first, dict) or not isinstance(first.get("finish_reason"), str):
        raise Malformed("the chat answer has no finish reason", usage)
    if usage is None:
        raise Malformed("the chat answer has no usage")
    return ChatShape(text, str(body.get("model", ""))[:100], usage)


def embedding_shape(body: dict[str, Any], count: int, dimension: int) -> EmbeddingShape:
    """`count` vectors in the order of the inputs, by each row's `index`; a bad one is None and named in `bad`.

    Malformed when rows are missing, repeated or out of range: then no row can be trusted to be whose it says.
    """
    usage = usage_of(body)
    found = _by_index(body.get("data"), count, usage)
    if usage is None:
        raise Malformed("the embeddings answer has no usage")
    vectors: list[list[float] | None] = []
    bad: dict[int, str] = {}
    for index in range(count):
        vector = _decode(found[index])
        flaw = _flaw(vector, dimension)
        vectors.append(None if flaw else vector)
        if flaw:
            bad[index] = flaw
    return EmbeddingShape(vectors, bad, usage)


def _by_index(rows: object, count: int, usage: Usage | None) -> dict[int, object]:
    if not isinstance(rows, list) or len(rows) != count:
        size = len(rows) if isinstance(rows, list) else "no"
        raise Malformed(f"the embeddings answer has {size} rows for {count} inputs", usage)
    found: dict[int, object] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in found:
            raise Malformed(f"the embeddings answer has a wrong or repeated index {index!r:.20}", usage)
        found[index] = row.get("embedding")
    return found


def _decode(found: object) -> list[float] | None:
    """The numbers of an embedding, base64 of little-endian float32 or a list; None when it is neither."""
    if isinstance(found, list):
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)
        return [float(value) for value in found] if numbers else None
    if not isinstance(found, str):
        return None
    values = array("f")
    try:
        values.frombytes(base64.b64decode(found, validate=True))
    except (binascii.Error, ValueError):
        return None
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def _flaw(vector: list[float] | None, dimension: int) -> str:
    """Why a vector must not be stored; empty when it may."""
    if vector is None:
        return "the vector cannot be read"
    if len(vector) != dimension:
        return f"the vector has {len(vector)} dimensions instead of {dimension}"
    if not all(map(math.isfinite, vector)):
        return "the vector has a number that is not finite"
    if sum(value * value for value in vector) < SMALLEST_SQUARE:
        return "the vector is zero"
    return ""
