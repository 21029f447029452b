"""How long a real provider would take, drawn from the seed and the request, so that a run can be repeated. Pure."""

import math
import random

# Lognormal with its 99th percentile at 1.6 x e^(2.326 x 0.5) = 5.1 s: most replies are quick, a few are slow.
CHAT_MEDIAN_SECONDS = 1.6
CHAT_SIGMA = 0.5
CHAT_LONGEST_SECONDS = 12.0
# A stream shows its first words after this part of the whole time.
FIRST_TOKEN_SHARE = 0.3
EMBEDDING_SECONDS = 0.15
EMBEDDING_SECONDS_PER_INPUT = 0.002
EMBEDDING_SIGMA = 0.2
SLOW_FACTOR = 10.0


def chat_seconds(seed: int, fingerprint: str) -> float:
    """Seconds until a chat reply is complete, the same for the same seed and request."""
    seconds = CHAT_MEDIAN_SECONDS * _spread(seed, fingerprint, CHAT_SIGMA)
    return min(seconds, CHAT_LONGEST_SECONDS)


def embedding_seconds(seed: int, fingerprint: str, inputs: int) -> float:
    """Seconds until an embeddings reply of `inputs` rows is complete, the same for the same seed and request."""
    return (EMBEDDING_SECONDS + EMBEDDING_SECONDS_PER_INPUT * inputs) * _spread(seed, fingerprint, EMBEDDING_SIGMA)


def _spread(seed: int, fingerprint: str, sigma: float) -> float:
    return math.exp(sigma * random.Random(f"{seed}:{fingerprint}").gauss(0.0, 1.0))
