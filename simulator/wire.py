"""Bodies and events in the shapes of the real API. Pure; decides nothing."""

import base64
import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from simulator.embeddings import little_endian
from simulator.faults import Row
from simulator.options import CHAT_MODEL, EMBEDDING_MODEL

JsonObject = dict[str, object]

FINGERPRINT = "fp_simulated"
DONE = b"data: [DONE]\n\n"
_PIECES = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished reply with what it cost."""

    id: str
    created: int
    content: str
    finish_reason: Literal["stop", "length"]
    prompt_tokens: int
    completion_tokens: int

    @property
    def total_tokens(self) -> int:
        """Tokens of the request and the reply together."""
        return self.prompt_tokens + self.completion_tokens


def dumps(body: object) -> bytes:
    """JSON in ASCII; a value that is no number is written as NaN, as a faulty provider would."""
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def completion_body(completion: Completion) -> JsonObject:
    """The body of a reply that is not streamed."""
    message: JsonObject = {"role": "assistant", "content": completion.content, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": completion.finish_reason}
    return {**_head(completion, "chat.completion"), "choices": [choice], "usage": _usage(completion)}


def completion_events(completion: Completion, include_usage: bool) -> Iterator[bytes]:
    """The server-sent events of a streamed reply: the role, its words, the reason it ended, its usage."""
    deltas: list[JsonObject] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"content": piece} for piece in _PIECES.findall(completion.content)]
    for delta in deltas:
        yield _chunk(completion, include_usage, delta, None)
    yield _chunk(completion, include_usage, {}, completion.finish_reason)
    if include_usage:
        body = {**_head(completion, "chat.completion.chunk"), "choices": [], "usage": _usage(completion)}
        yield event(body)


def event(body: object) -> bytes:
    """One server-sent event."""
    return b"data: " + dumps(body) + b"\n\n"


def embeddings_body(rows: list[Row], encoding_format: str, prompt_tokens: int) -> JsonObject:
    """The body of an embeddings reply, its rows in the order given."""
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": i, "embedding": _encoded(v, encoding_format)} for i, v in rows],
        "model": EMBEDDING_MODEL,
        "usage": {"prompt_tokens": prompt_tokens, "total_tokens": prompt_tokens},
    }


def model_body(model: str, created: int) -> JsonObject:
    """One model as `GET /v1/models` lists it."""
    return {"id": model, "object": "model", "created": created, "owned_by": "simulator"}


def _head(completion: Completion, kind: str) -> JsonObject:
    return {
        "id": completion.id,
        "object": kind,
        "created": completion.created,
        "model": CHAT_MODEL,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _chunk(completion: Completion, include_usage: bool, delta: JsonObject, finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    body = {**_head(completion, "chat.completion.chunk"), "choices": [choice]}
    # With usage asked for, every chunk but the last carries the field as null.
    return event({**body, "usage": None} if include_usage else body)


def _usage(completion: Completion) -> JsonObject:
    return {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "total_tokens": completion.total_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _encoded(vector: "array[float]", encoding_format: str) -> object:
    if encoding_format == "base64":
        return base64.b64encode(little_endian(vector)).decode("ascii")
    return vector.tolist()
