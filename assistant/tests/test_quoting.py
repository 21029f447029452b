"""The tightest part of a passage that a sentence rests on."""

import pytest

from assistant.quoting import quote
from assistant.tests.passage_samples import RETURNS


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The count starts after delivery", "The count starts on the day\nafter delivery."),
        ("By parcel it is €3.90", "By parcel: €3.90 for each return."),
        ("Mattresses have 100 nights", "| Mattresses | 100 nights |"),
        ("Whales sing", RETURNS.strip()),
    ],
)
def test_it_finds_the_words_behind_a_sentence(sentence: str, expected: str) -> None:
    span = quote(RETURNS, sentence)
    assert RETURNS[span.start : span.end] == expected


def test_neighbours_join_while_they_add_words_of_the_sentence() -> None:
    text = "Sofas are collected. The collection costs 35 euros. Crews come on weekdays. Nothing else matters."
    span = quote(text, "Sofas are collected on weekdays by crews at the cost of 35 euros.")
    assert text[span.start : span.end] == "Sofas are collected. The collection costs 35 euros. Crews come on weekdays."
