"""Vectors are unit, finite, repeatable, and near where texts share words."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.embeddings import DIMENSION, embed, little_endian
from simulator.words import stem

any_text = st.text(min_size=1)


def nearness(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(embed(one), embed(other), strict=True))


@given(text=any_text, dimension=st.integers(1, DIMENSION))
def test_every_text_has_a_finite_unit_vector_of_the_dimension(text: str, dimension: int) -> None:
    vector = embed(text, dimension)
    assert len(vector) == dimension
    assert math.isclose(math.fsum(value * value for value in vector), 1.0, rel_tol=1e-4)


@pytest.mark.parametrize("text", [" ", "🙂", "\ud800", "the", "---", "返品", "\x00", "สวัสดี"])
def test_texts_without_common_words_have_vectors_too(text: str) -> None:
    assert any(embed(text, 1))
    assert any(embed(text))


def test_the_same_text_has_the_same_vector() -> None:
    assert embed("Returns within 30 days") == embed("Returns within 30 days")


def test_a_question_is_nearest_to_the_text_that_shares_its_words() -> None:
    question = "How many days do I have to return an item?"
    texts = [
        "Customers may return items within 30 days of delivery.",
        "Parcels to islands take four working days longer.",
        "Our office in Lisbon opens at nine.",
    ]
    assert max(texts, key=lambda text: nearness(question, text)) == texts[0]
    assert nearness(question, texts[0]) > nearness(question, texts[1]) > nearness(question, texts[2])


@pytest.mark.parametrize(
    ("one", "near", "far"),
    [
        ("returned parcels", "returning a parcel", "opening hours"),
        ("warranty", "waranty", "delivery"),
        ("café crème", "cafe creme", "thé vert"),
        ("返品は何日以内ですか", "返品は三十日以内に", "東京の天気は晴れ"),
        ("reimburse a purchase", "refund an order", "paint a wall"),
        ("the parcel", "parcel", "the"),
    ],
)
def test_forms_mistakes_accents_and_synonyms_stay_near(one: str, near: str, far: str) -> None:
    assert nearness(one, near) > nearness(one, far) + 0.1


def test_it_shortens_by_cutting_and_scaling() -> None:
    whole, short = embed("Refunds take five days"), embed("Refunds take five days", 64)
    scale = math.sqrt(sum(value * value for value in whole[:64]))
    assert list(short) == pytest.approx([value / scale for value in whole[:64]], abs=1e-6)


def test_its_bytes_are_little_endian_32_bit_floats() -> None:
    vector = embed("Refunds", 8)
    assert struct.unpack("<8f", little_endian(vector)) == tuple(vector)


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ("return returns returned returning return's", "return"),
        ("ship shipping shipped ships", "ship"),
        ("policy policies", "polici"),
        ("exchange exchanged exchanging exchanges", "exchang"),
        ("box boxes", "box"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: str, expected: str) -> None:
    assert {stem(form) for form in forms.split()} == {expected}
