"""An embeddings request into counted texts and their rows. Pure; charges and sends nothing."""

from dataclasses import dataclass

from simulator.embeddings import DIMENSION, embed
from simulator.errors import ApiError, invalid_request
from simulator.faults import Row
from simulator.shapes import parse_embeddings
from simulator.tokens import embedding_tokens, text_of_embedding_tokens

MOST_INPUTS = 2048
MOST_TOKENS_EACH = 8192
MOST_TOKENS = 300_000


@dataclass(frozen=True, slots=True)
class CountedTexts:
    """The texts of a request within every limit, with the tokens they cost together."""

    texts: tuple[str, ...]
    tokens: int
    encoding_format: str
    dimensions: int


def parse(body: object) -> CountedTexts:
    """The request's texts, counted; ApiError 400 or 404 for a wrong shape or a size above a limit."""
    asked = parse_embeddings(body, DIMENSION)
    if len(asked.inputs) > MOST_INPUTS:
        raise invalid_request(f"'input' holds {len(asked.inputs)} inputs, at most {MOST_INPUTS} are taken.", "input")
    counted = [_counted(one) for one in asked.inputs]
    if longest := max((tokens for _, tokens in counted if tokens > MOST_TOKENS_EACH), default=None):
        raise invalid_request(
            f"This model's maximum context length is {MOST_TOKENS_EACH} tokens, however you requested {longest} "
            f"tokens ({longest} in your prompt; 0 for the completion). Please reduce your prompt."
        )
    total = sum(tokens for _, tokens in counted)
    if total > MOST_TOKENS:
        message = f"Requested {total} tokens, max {MOST_TOKENS} tokens per request"
        raise ApiError(400, message, "max_tokens_per_request", code="max_tokens_per_request")
    return CountedTexts(tuple(text for text, _ in counted), total, asked.encoding_format, asked.dimensions)


def rows(counted: CountedTexts) -> list[Row]:
    """One (index, unit vector) for each text, in the texts' order."""
    return [(index, embed(text, counted.dimensions)) for index, text in enumerate(counted.texts)]


def _counted(one: str | tuple[int, ...]) -> tuple[str, int]:
    if isinstance(one, str):
        return one, len(embedding_tokens(one))
    try:
        return text_of_embedding_tokens(one), len(one)
    except KeyError:
        raise invalid_request("'$.input' is invalid: a token number is out of range.", "input") from None
