"""What the door says, pure: an embeddings request read, vectors put into the answer's form."""

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

DIMENSION = 384


class BadRequest(Exception):
    """The request can't be answered; the text says why."""


@dataclass(frozen=True)
class Asked:
    """The texts in order, the model's name as asked for, and whether vectors are wanted as base64."""

    texts: list[str]
    model: str
    is_base64: bool


def read(body: bytes) -> Asked:
    """The request. Raises BadRequest."""
    try:
        found = json.loads(body)
        texts = found["input"]
    except (ValueError, KeyError, TypeError):
        raise BadRequest("The body must be a JSON object with 'input'.") from None
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise BadRequest("'input' must be a text or a list of texts, none of them empty.")
    if found.get("dimensions", DIMENSION) != DIMENSION:
        raise BadRequest(f"This model has {DIMENSION} dimensions and no others.")
    return Asked(texts, str(found.get("model", "")), found.get("encoding_format") == "base64")


def answer(asked: Asked, vectors: Sequence[Sequence[float]], tokens: int) -> bytes:
    """The answer's body. `vectors`: one of DIMENSION numbers for each text; `tokens`: of all texts together."""
    rows = [
        {"object": "embedding", "index": index, "embedding": packed(vector) if asked.is_base64 else list(vector)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json.dumps({"object": "list", "data": rows, "model": asked.model, "usage": usage}).encode()


def packed(vector: Sequence[float]) -> str:
    """Little-endian 32-bit floats as base64, as the official client asks for them."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def refused(why: str) -> bytes:
    return json.dumps({"error": {"message": why, "type": "invalid_request_error", "code": None}}).encode()
