"""The door before the real model: what it reads and answers, without the model."""

import base64
import json
import struct

import pytest

from loadtests.real_model import replies

VECTOR = [0.5, -0.25, 0.125]


def test_one_text_and_many_are_read_in_their_order() -> None:
    assert replies.read(b'{"input": "a", "model": "embed-small"}') == replies.Asked(["a"], "embed-small", False)
    asked = replies.read(b'{"input": ["b", "a"], "model": "m", "encoding_format": "base64", "dimensions": 384}')
    assert (asked.texts, asked.is_base64) == (["b", "a"], True)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"input": []}', b'{"input": [""]}', b'{"input": [1]}'])
def test_what_is_no_text_is_refused(body: bytes) -> None:
    with pytest.raises(replies.BadRequest, match="input"):
        replies.read(body)


def test_other_dimensions_are_refused() -> None:
    with pytest.raises(replies.BadRequest, match="384 dimensions"):
        replies.read(b'{"input": "a", "dimensions": 256}')


def test_vectors_are_answered_as_numbers_or_packed() -> None:
    asked = replies.Asked(["a"], "embed-small", is_base64=False)
    answer = json.loads(replies.answer(asked, [VECTOR], tokens=3))
    assert answer["data"] == [{"object": "embedding", "index": 0, "embedding": VECTOR}]
    assert answer["usage"] == {"prompt_tokens": 3, "total_tokens": 3}
    assert list(struct.unpack("<3f", base64.b64decode(replies.packed(VECTOR)))) == VECTOR
