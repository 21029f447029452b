"""The official client works unchanged: chat, streams, embeddings, errors."""

import math

import openai
import pytest

from simulator.tests.running import Provider
from simulator.tokens import chat_tokens, embedding_tokens

QUESTION = "Question: How long do refunds take?\n\nPassages:\n[1] (Refunds)\nRefunds take five days to arrive.\n"
ANSWER = "Refunds take five days to arrive [1]."


def test_it_chats(provider: Provider) -> None:
    raw = provider.client.chat.completions.with_raw_response.create(
        model="chat-small",
        messages=[{"role": "user", "content": QUESTION}],
        temperature=0,
        max_tokens=200,
        user="kwame",
    )
    completion = raw.parse()
    assert completion.choices[0].message.content == ANSWER
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == len(chat_tokens(ANSWER))
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    assert raw.headers["x-request-id"].startswith("req_")
    assert raw.headers["x-ratelimit-remaining-requests"] == "99"


def test_it_streams_the_same_reply_with_its_usage_last(provider: Provider) -> None:
    chunks = list(
        provider.client.chat.completions.create(
            model="chat-small",
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1])
    assert text == ANSWER
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == provider.ledger()["totals"]["tokens"]
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_it_cuts_a_reply_at_its_token_limit(provider: Provider) -> None:
    completion = provider.client.chat.completions.create(
        model="chat-small", messages=[{"role": "user", "content": QUESTION}], max_completion_tokens=3
    )
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 3


def test_both_encodings_of_embeddings_hold_the_same_vectors(provider: Provider) -> None:
    texts = ["Refunds take five days", "Opening hours <|endoftext|>"]
    by_default = provider.client.embeddings.create(model="embed-small", input=texts)
    as_floats = provider.client.embeddings.create(model="embed-small", input=texts, encoding_format="float")
    assert [row.index for row in by_default.data] == [0, 1]
    assert [row.embedding for row in by_default.data] == [row.embedding for row in as_floats.data]
    assert len(by_default.data[0].embedding) == 384
    assert by_default.usage.total_tokens == sum(len(embedding_tokens(text)) for text in texts)


def test_it_shortens_vectors_and_reads_token_numbers(provider: Provider) -> None:
    tokens = embedding_tokens("Refunds take five days")
    from_tokens = provider.client.embeddings.create(model="embed-small", input=[tokens], dimensions=16)
    from_text = provider.client.embeddings.create(model="embed-small", input="Refunds take five days", dimensions=16)
    assert from_tokens.data[0].embedding == from_text.data[0].embedding
    assert math.isclose(sum(value * value for value in from_text.data[0].embedding), 1.0, rel_tol=1e-4)
    assert from_tokens.usage.prompt_tokens == len(tokens)


def test_a_spent_quota_raises_the_clients_rate_limit_error(provider: Provider) -> None:
    provider.control("mode", {"mode": "quota"})
    for _ in range(10):
        assert provider.chat().status_code == 200
    with pytest.raises(openai.RateLimitError, match=r"Rate limit reached .* Please try again in") as caught:
        provider.client.chat.completions.create(model="chat-small", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.code == "rate_limit_exceeded"
    assert caught.value.type == "requests"
    assert int(caught.value.response.headers["retry-after"]) >= 1
    assert float(caught.value.response.headers["retry-after-ms"]) <= 6000


def test_it_lists_its_models(provider: Provider) -> None:
    assert [model.id for model in provider.client.models.list()] == ["chat-small", "embed-small"]
    assert provider.client.models.retrieve("chat-small").object == "model"
    with pytest.raises(openai.NotFoundError):
        provider.client.models.retrieve("other")


def test_wrong_keys_models_and_shapes_raise_the_clients_errors(provider: Provider) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        provider.client.embeddings.create(model="other", input="x")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        provider.client.embeddings.create(model="embed-small", input="")
    assert wrong.value.param == "input"
    assert provider.http.get("/v1/models", headers={"Authorization": "Bearer"}).status_code == 401
