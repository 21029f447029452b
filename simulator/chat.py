"""A chat request into a finished completion. Pure but for the clock that is passed in; charges and sends nothing."""

from simulator.errors import invalid_request
from simulator.replies import reply
from simulator.shapes import ChatRequest
from simulator.tokens import chat_tokens, first_tokens, prompt_tokens
from simulator.wire import Completion

MOST_PROMPT_TOKENS = 128_000


def complete(asked: ChatRequest, seed: int, completion_id: str, created: int) -> Completion:
    """The reply to the request; ApiError 400 where the prompt is above the model's context."""
    prompt = prompt_tokens(message.content for message in asked.messages)
    if prompt > MOST_PROMPT_TOKENS:
        raise invalid_request(
            f"This model's maximum context length is {MOST_PROMPT_TOKENS} tokens. "
            f"However, your messages resulted in {prompt} tokens. Please reduce the length of the messages.",
            "messages",
            "context_length_exceeded",
        )
    whole = reply(asked.messages, seed)
    content = whole if asked.max_tokens is None else first_tokens(whole, asked.max_tokens)
    return Completion(
        id=completion_id,
        created=created,
        content=content,
        finish_reason="stop" if content == whole else "length",
        prompt_tokens=prompt,
        completion_tokens=len(chat_tokens(content)),
    )
