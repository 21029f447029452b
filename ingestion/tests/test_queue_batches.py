"""How inputs are cut into batches of embeddings (pure)."""

from hypothesis import given
from hypothesis import strategies as st

from ingestion.pipeline import embedding


@given(
    sizes=st.lists(st.integers(1, 500), min_size=1, max_size=60),
    most_inputs=st.integers(1, 10),
    most_tokens=st.floats(0, 1000),
)
def test_batches_keep_every_input_in_order_and_both_bounds(
    sizes: list[int], most_inputs: int, most_tokens: float
) -> None:
    left = [embedding.Input(str(number), size, str(number), (number,)) for number, size in enumerate(sizes)]
    while left:
        batch = embedding.first_batch(left, most_inputs, most_tokens)
        assert batch == left[: len(batch)]
        assert 1 <= len(batch) <= most_inputs
        assert len(batch) == 1 or sum(one.tokens for one in batch) <= most_tokens
        left = left[len(batch) :]
