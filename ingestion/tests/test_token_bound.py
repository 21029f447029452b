"""The quick bound of a text's tokens: never below the count, and near it for prose."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.corpus import HERE
from ingestion.pipeline.reading import normalise
from ingestion.pipeline.tokens import count_tokens, most_tokens

words = st.sampled_from(
    ["goods", "it's", "(see", "30", "days).", "e-mail,", "##", "—", "|", "café", "x" * 30, "''", "...!", "1234567"]
)
gaps = st.sampled_from([" ", "  ", "   ", "\n", "\n\n", "\n\n\n", " \n", "\n \n ", "\t", "\u00a0"])
texts = st.lists(st.tuples(words, gaps), max_size=30).map(lambda pairs: "".join(word + gap for word, gap in pairs))


@settings(max_examples=600, deadline=None)
@given(text=st.one_of(texts, st.text(max_size=200).map(normalise)))
def test_no_text_has_more_tokens_than_its_bound(text: str) -> None:
    assert most_tokens(text) >= count_tokens(text)


def test_the_bound_of_a_policy_is_near_its_count() -> None:
    text = (HERE / "documents" / "returns.md").read_text(encoding="utf-8")
    assert count_tokens(text) <= most_tokens(text) <= 1.5 * count_tokens(text)
