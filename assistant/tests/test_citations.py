"""Each sentence that is let out rests on a supplied chunk; the quotes are exact; pieces do not matter."""

import re

from hypothesis import given
from hypothesis import strategies as st

from assistant.citations import Citing
from assistant.passages import Passage
from assistant.prompt import NOT_FOUND
from assistant.tests.passage_samples import REFUNDS, RETURNS, SUPPLIED, passage


def cited(text: str, passages: list[Passage] | None = None) -> Citing:
    citing = Citing(SUPPLIED if passages is None else passages)
    list(citing.feed(text))
    list(citing.finish())
    return citing


def quotes(citing: Citing) -> list[object]:
    return [one.document()["quote"] for one in citing.citations]


def test_it_keeps_a_sentence_that_rests_on_its_passage_and_quotes_the_words_behind_it() -> None:
    citing = cited("A customer has 30 days to return an item [1].")
    assert citing.answer == "A customer has 30 days to return an item [1]."
    assert quotes(citing) == ["A customer has **30 days** to return an item bought online or in a store."]
    document = citing.citations[0].document()
    assert (document["document"], document["version"], document["marker"]) == ("returns", 3, 1)
    assert document["start"] == 120


def test_it_numbers_the_markers_anew_by_first_appearance() -> None:
    citing = cited("Money is sent back within 5 working days [2]. A customer has 30 days to return an item [1].")
    assert citing.answer == (
        "Money is sent back within 5 working days [1]. A customer has 30 days to return an item [2]."
    )
    assert [one.passage.document for one in citing.citations] == ["refunds", "returns"]


def test_it_drops_a_sentence_whose_marker_names_no_supplied_passage() -> None:
    citing = cited("A customer has 30 days to return an item [1]. Money is sent back within 5 working days [9].")
    assert citing.answer == "A customer has 30 days to return an item [1]."


def test_it_drops_a_sentence_that_its_passage_does_not_hold() -> None:
    citing = cited("Every customer receives a free holiday in Spain [1]. Mattresses have 100 nights [1].")
    assert citing.answer == "Mattresses have 100 nights [1]."


def test_it_drops_a_sentence_with_a_number_that_its_passage_does_not_have() -> None:
    assert cited("A customer has 60 days to return an item bought online [1].").answer == NOT_FOUND


def test_a_number_in_words_is_the_number_in_digits() -> None:
    assert cited("A customer has thirty days to return an item [1].").citations


def test_it_drops_a_last_sentence_without_a_marker() -> None:
    citing = cited("A customer has 30 days to return an item [1]. The count starts on the day after deliv")
    assert citing.answer == "A customer has 30 days to return an item [1]."


def test_a_sentence_before_the_marker_is_judged_by_it_and_gets_it() -> None:
    citing = cited("The count starts on the day after delivery. A customer has 30 days to return an item [1].")
    assert citing.answer == (
        "The count starts on the day after delivery [1]. A customer has 30 days to return an item [1]."
    )
    assert len(citing.citations) == 1


def test_two_sentences_on_one_passage_share_a_marker_whose_quote_spans_both() -> None:
    citing = cited("By parcel: €3.90 for each return [1]. In a store: free [1].")
    assert quotes(citing) == ["In a store: free.\n- By parcel: €3.90 for each return."]


def test_markers_after_the_full_stop_and_joined_ones_are_read() -> None:
    citing = cited("A customer has 30 days to return an item. [1] Money is sent back within 5 working days. [1, 2]")
    assert citing.answer == (
        "A customer has 30 days to return an item [1]. Money is sent back within 5 working days [2]."
    )


def test_nothing_fit_to_show_becomes_the_plain_not_found_answer() -> None:
    for text in ("", "I think it is about a month.", "Not found in the policies.", "Not found in the policies. [1]"):
        citing = cited(text)
        assert (citing.answer, citing.citations) == (NOT_FOUND, [])


def test_it_tells_an_abstention_from_an_answer_that_could_not_be_shown() -> None:
    assert cited("Not found in the policies.").has_abstained
    assert not cited("It is about a month.").has_abstained


def test_a_table_row_is_quoted_whole() -> None:
    citing = cited("Product group: Electronics (phones, tablets); Period: 14 days [1].")
    assert quotes(citing) == ["| Electronics (phones, tablets) | 14 days |"]


def test_the_header_of_a_continued_table_counts_as_its_words() -> None:
    rows = passage("| Mattresses | 100 nights |\n", prefix="Returns > Periods\n| Product group | Period |\n|---|---|")
    assert cited("Product group: Mattresses; Period: 100 nights [1].", [rows]).citations


def test_an_abbreviation_and_a_decimal_end_no_sentence() -> None:
    text = "Large items, e.g. Sofas from St. Ives, cost approx. 35.50 euros for each collection. Call us first."
    citing = cited(
        "Large items, e.g. Sofas from St. Ives, cost approx. 35.50 euros for each collection [1].", [passage(text)]
    )
    assert citing.answer.count("[1]") == 1
    assert citing.citations


def test_a_list_keeps_its_lines() -> None:
    citing = cited("- In a store: free [1]\n- By parcel: €3.90 for each return [1]")
    assert citing.answer == "- In a store: free [1].\n- By parcel: €3.90 for each return [1]."


WORDS = ("A customer has 30 days", " to return an item", "Money is sent back", " within 5 working days", " é漢字")
MARKERS = (" [1]", "[2]", " [1][2]", " [7]", " [1, 2].", "Not found in the policies.", "[", "]")
SIGNS = (".", ". ", "!", "\n", "\n\n- ", " e.g. ", "3.90 ", "“", "。", ":")
PARTS = st.sampled_from(WORDS + MARKERS + SIGNS)
TEXTS = st.lists(PARTS, max_size=14).map("".join)


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_an_answer_does_not_depend_on_the_pieces_in_which_it_came(text: str, sizes: list[int]) -> None:
    whole, pieces, shown, at = cited(text), Citing(SUPPLIED), "", 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        shown += "".join(pieces.feed(text[at : at + size]))
        at += size
    shown += "".join(pieces.finish())
    assert shown == pieces.answer == whole.answer
    assert pieces.citations == whole.citations


@given(TEXTS)
def test_every_marker_has_a_citation_and_every_quote_is_the_exact_slice(text: str) -> None:
    citing = cited(text)
    markers = {int(n) for n in re.findall(r"\[(\d+)\]", citing.answer)}
    assert markers == set(range(1, len(citing.citations) + 1))
    full = {"returns": "x" * 120 + RETURNS, "refunds": "x" * 40 + REFUNDS}
    for one in citing.citations:
        document = one.document()
        start, end = document["start"], document["end"]
        assert isinstance(start, int)
        assert isinstance(end, int)
        quote = full[str(document["document"])][start:end]
        assert quote == document["quote"] == quote.strip() != ""


@given(st.text(max_size=200))
def test_no_text_of_a_model_breaks_it(text: str) -> None:
    assert cited(text).answer
