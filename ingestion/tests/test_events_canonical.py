"""Canonical JSON: what says the same has one hash, what differs has another."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.events.canonical import canonical, payload_hash

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
def test_the_form_is_stable_and_says_the_same(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=5))
def test_the_order_of_keys_and_the_blanks_do_not_matter(value: dict[str, Any]) -> None:
    shuffled = dict(reversed(list(value.items())))
    assert canonical(json.loads(json.dumps(shuffled, indent=3))) == canonical(value)


@pytest.mark.parametrize(
    "one, other",
    [("5", "5.0"), ("5", "50e-1"), ("0", "-0.0"), ("100000000000000000000", "1e20"), ('"ü"', '"\\u00fc"')],
)
def test_two_ways_to_write_a_value_are_one(one: str, other: str) -> None:
    assert canonical(json.loads(one)) == canonical(json.loads(other))


@pytest.mark.parametrize(
    "one, other",
    [
        ("1", "true"), ("0", "false"), ("1", '"1"'), ("null", "0"), ("[1,2]", "[2,1]"), ("0.1", "0.11"),
        ('"ü"', '"u\\u0308"'), ('{"a":null}', "{}"), ("9007199254740993", "9007199254740992"), ("[]", "{}"),
    ],
)  # fmt: skip
def test_different_values_differ(one: str, other: str) -> None:
    assert canonical(json.loads(one)) != canonical(json.loads(other))


def test_the_type_belongs_to_the_hash() -> None:
    assert payload_hash("answer.cited", "{}") != payload_hash("document.viewed", "{}")


def test_a_number_that_no_double_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="beyond a double"):
        canonical({"a": [2 * 10**308]})
