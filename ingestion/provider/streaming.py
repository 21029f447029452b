"""Reads a streamed chat answer: server-sent lines in, text deltas and the whole answer out. Pure."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ingestion.provider.shapes import ChatShape, Malformed, Usage, usage_of


class BrokenOff(Exception):
    """The stream ended before it said that it was done."""


def payloads(chunks: Iterable[bytes]) -> Iterator[str]:
    """The `data:` values of a server-sent event stream, whatever way its bytes are cut."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip().decode("utf-8", "replace")


class Gathering:
    """What a stream has said so far."""

    def __init__(self) -> None:
        self.text = ""
        self.model = ""
        self.usage: Usage | None = None
        self._is_finished = False
        self._is_done = False

    def take(self, payload: str) -> str:
        """Adds one event and returns its piece of text, empty when it has none; Malformed if unreadable."""
        if payload == "[DONE]":
            self._is_done = True
            return ""
        event = self._event(payload)
        self.model = str(event.get("model", self.model))[:100]
        self.usage = usage_of(event) or self.usage
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(first, dict):
            raise Malformed("the stream has a choice that is no object", self.usage)
        self._is_finished = self._is_finished or isinstance(first.get("finish_reason"), str)
        delta = first.get("delta")
        piece = delta.get("content") if isinstance(delta, dict) else None
        piece = piece if isinstance(piece, str) else ""
        self.text += piece
        return piece

    def _event(self, payload: str) -> dict[str, Any]:
        try:
            event = json.loads(payload)
        except ValueError:
            raise Malformed("the stream has an event that is no JSON", self.usage) from None
        if not isinstance(event, dict) or "error" in event:
            raise Malformed("the stream has an error inside", self.usage)
        return event

    def whole(self) -> ChatShape:
        """The complete answer; BrokenOff if the stream never finished, Malformed without text or usage."""
        if not (self._is_done and self._is_finished):
            raise BrokenOff
        if not self.text.strip():
            raise Malformed("the streamed answer has no text", self.usage)
        if self.usage is None:
            raise Malformed("the streamed answer has no usage")
        return ChatShape(self.text, self.model, self.usage)
