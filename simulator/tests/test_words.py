"""Words: pairs that mean one thing, likeness of stems, and tables that hold what their readers expect."""

import pytest

from simulator.thesaurus import CONCEPTS, IRREGULAR
from simulator.words import concepts, likeness, stem, stems, telling


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Send it back", ["send-back"]),
        ("She sent the whole thing back", ["send-back", "whol", "thing"]),
        ("call off the order", ["call-off", "order"]),
        ("bring a chair and a lamp, then come back", ["bring", "chair", "lamp", "come", "back"]),
        ("two mice, three nights", ["2", "mice", "3", "night"]),
    ],
)
def test_a_verb_and_its_particle_are_one_unit_when_they_stand_near(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("refund", "reimburse"), ("lapse", "expire"), ("employee", "colleague"), ("sofa", "couch"), ("ship", "shipment")],
)
def test_words_of_one_meaning_are_alike(one: str, other: str) -> None:
    assert likeness(stem(one), stem(other)) > 0.5


@pytest.mark.parametrize("mistyped", ["waranty", "warrranty", "wraranty", "warrenty"])
def test_one_slip_of_the_finger_is_understood(mistyped: str) -> None:
    assert likeness(stem(mistyped), stem("warranty")) > 0.5
    assert concepts(stem(mistyped)) == concepts(stem("warranty"))


@pytest.mark.parametrize(("one", "other"), [("cash", "wash"), ("return", "refund"), ("mower", "tower"), ("12", "13")])
def test_other_words_are_not_alike(one: str, other: str) -> None:
    assert likeness(stem(one), stem(other)) == 0.0


def test_what_every_text_says_tells_less_than_what_shops_say_and_that_less_than_the_rest() -> None:
    assert telling(stem("customer")) < telling(stem("warranty")) < telling("elephant")


def test_no_line_of_the_tables_repeats_a_word_or_stands_alone() -> None:
    for line in (*CONCEPTS.strip().splitlines(), *IRREGULAR.strip().splitlines()):
        words = line.split()
        assert len(set(words)) == len(words) > 1, line
