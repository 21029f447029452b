"""Request bodies into typed requests, or into the 400 that names the wrong field. Pure; answers nothing."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from simulator.errors import ApiError, invalid_request, model_not_found
from simulator.options import CHAT_MODEL, EMBEDDING_MODEL

Fields = dict[str, Any]

Encoding = Literal["float", "base64"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat, its content as plain text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A well-formed request for a reply; `max_tokens` bounds the reply."""

    messages: tuple[Message, ...]
    max_tokens: int | None
    stream: bool
    include_usage: bool


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A well-formed request for vectors; each input is a text or token numbers, not yet counted."""

    inputs: tuple[str | tuple[int, ...], ...]
    encoding_format: Encoding
    dimensions: int


def parse_chat(body: object) -> ChatRequest:
    """The chat request in the body; ApiError 400 or 404 where it is wrong. What is not known is ignored."""
    fields = _fields(body, CHAT_MODEL)
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid_request("'messages' must be a list with at least one message.", "messages")
    _within(fields, "temperature", 0, 2)
    _within(fields, "top_p", 0, 1)
    if fields.get("n") not in (None, 1):
        raise invalid_request("Only n = 1 is offered.", "n")
    if not isinstance(fields.get("response_format"), dict | None):
        raise invalid_request("'response_format' must be an object.", "response_format")
    stream = _flag(fields, "stream")
    limits = [_whole(fields, name, 1, None) for name in ("max_completion_tokens", "max_tokens")]
    return ChatRequest(
        messages=tuple(_message(number, message) for number, message in enumerate(messages)),
        max_tokens=next((limit for limit in limits if limit is not None), None),
        stream=stream,
        include_usage=_include_usage(fields, stream),
    )


def parse_embeddings(body: object, most_dimensions: int) -> EmbeddingRequest:
    """The embeddings request in the body; ApiError 400 or 404 where it is wrong. Sizes in tokens are not checked."""
    fields = _fields(body, EMBEDDING_MODEL)
    encoding = next((known for known in ENCODINGS if known == fields.get("encoding_format", "float")), None)
    if encoding is None:
        raise invalid_request("'encoding_format' must be 'float' or 'base64'.", "encoding_format")
    dimensions = _whole(fields, "dimensions", 1, most_dimensions)
    return EmbeddingRequest(
        inputs=_inputs(fields.get("input")),
        encoding_format=encoding,
        dimensions=dimensions or most_dimensions,
    )


def _fields(body: object, offered_model: str) -> Fields:
    if not isinstance(body, dict):
        raise invalid_request("The body must be a JSON object.")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise invalid_request("you must provide a model parameter", "model")
    if model != offered_model:
        raise model_not_found(model)
    return body


def _message(number: int, message: object) -> Message:
    param = f"messages[{number}]"
    if not isinstance(message, dict):
        raise invalid_request("Each message must be an object.", param)
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise invalid_request(f"'role' must be one of {', '.join(sorted(ROLES))}.", f"{param}.role")
    content = message.get("content")
    if content is None and role == "assistant":
        return Message(role, "")
    if isinstance(content, str):
        return Message(role, content)
    if isinstance(content, list) and content and all(_is_text_part(part) for part in content):
        return Message(role, "\n".join(part["text"] for part in content))
    raise invalid_request("'content' must be a string or a list of text parts.", f"{param}.content")


def _is_text_part(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def _include_usage(fields: Fields, stream: bool) -> bool:
    options = fields.get("stream_options")
    if options is None:
        return False
    if not stream:
        raise invalid_request("'stream_options' is only allowed when 'stream' is enabled.", "stream_options")
    if not isinstance(options, dict):
        raise invalid_request("'stream_options' must be an object.", "stream_options")
    return _flag(options, "include_usage")


def _inputs(given: object) -> tuple[str | tuple[int, ...], ...]:
    if given is None:
        raise invalid_request("you must provide an input parameter", "input")
    if isinstance(given, str) or (isinstance(given, list) and given and _is_token(given[0])):
        given = [given]
    if not isinstance(given, list) or not given:
        raise _wrong_input()
    return tuple(_one_input(one) for one in given)


def _one_input(one: object) -> str | tuple[int, ...]:
    if isinstance(one, str) and one:
        return one
    if isinstance(one, list) and one and all(_is_token(token) for token in one):
        return tuple(one)
    raise _wrong_input()


def _wrong_input() -> ApiError:
    message = "'$.input' is invalid: each input must be a string that is not empty, or a list of token numbers."
    return invalid_request(message, "input")


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if not isinstance(value, bool | None):
        raise invalid_request(f"'{name}' must be true or false.", name)
    return bool(value)


def _whole(fields: Fields, name: str, least: int, most: int | None) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {most}"
        raise invalid_request(f"'{name}' must be a whole number from {least}{upper}.", name)
    return value


def _within(fields: Fields, name: str, least: float, most: float) -> None:
    value = fields.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise invalid_request(f"'{name}' must be a number from {least} to {most}.", name)
