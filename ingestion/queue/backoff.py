"""How long a failed try waits (pure): exponential with full jitter, capped."""

import random

# 2 ** 62 is beyond any cap; a higher exponent would only overflow.
EXPONENT_MAX = 62


def delay_seconds(attempt: int, *, base: float, most: float, pick: float | None = None) -> float:
    """Seconds before try `attempt` + 1: a random part (`pick`, 0 to 1) of base × 2^(attempt − 1), at most `most`.

    Full jitter spreads the retries of jobs that failed together over the whole interval.
    """
    ceiling = min(most, base * 2.0 ** min(max(attempt - 1, 0), EXPONENT_MAX))
    return ceiling * (random.random() if pick is None else pick)
