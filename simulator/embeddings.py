"""Texts into unit vectors in which shared words and meanings are near, by signed feature hashing. Pure."""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from simulator.words import concepts, is_everyday, is_stop_word, units

DIMENSION = 384
# Eight signed places a stem: unrelated stems stay nearly at right angles, and a text costs about a millisecond.
STEM_PLACES = 8
# Three-letter pieces of a word keep a typing mistake near the word that was meant, without outweighing whole words.
TRIGRAM_PLACES = 2
TRIGRAM_WEIGHT = 0.4
# What is meant counts more than how it is said: refund and reimburse share this beside their letters.
CONCEPT_WEIGHT = 1.5
STOP_WORD_WEIGHT = 0.05
EVERYDAY_WEIGHT = 0.5
# What a text calls itself in a first line of its own says more than any line below it.
TITLE_WEIGHT = 2.0
# A direction that texts of several lines have and questions lack: one that says next to nothing under its title is not
# the nearest to whatever has a word of that title.
PASSAGE = 6.0

Sparse = tuple[tuple[int, ...], tuple[float, ...]]


def embed(text: str, dimension: int = DIMENSION) -> "array[float]":
    """A unit vector of `dimension` (1 to 384) 32-bit floats, finite and never zero, the same for the same text."""
    vector = [0.0] * DIMENSION
    title, body = _titled(text)
    if "\n" in text.strip():
        vector[-1] += PASSAGE
    for word, weight in _weighted(title, body).items():
        places, values = _word_vector(word)
        for place, value in zip(places, values, strict=True):
            vector[place] += weight * value
    return _unit(vector[:dimension], text)


def little_endian(vector: "array[float]") -> bytes:
    """The vector as the wire's base64 form holds it, whatever this machine's byte order."""
    if sys.byteorder == "little":
        return vector.tobytes()
    swapped = vector[:]
    swapped.byteswap()
    return swapped.tobytes()


def _titled(text: str) -> tuple[str, str]:
    """A first line that stands alone or is a path of headings, and what follows; or no title."""
    title, _, body = text.partition("\n")
    return (title, body) if body.startswith("\n") or (body and " > " in title) else ("", text)


def _weighted(title: str, body: str) -> dict[str, float]:
    """Each word once: a repeated one tells little more, one of the title much more."""
    counts = Counter(units(body))
    weights = {word: math.sqrt(count) for word, count in counts.items()}
    for word in set(units(title)):
        weights[word] = weights.get(word, 0.0) + TITLE_WEIGHT
    return weights


def _unit(vector: list[float], text: str) -> "array[float]":
    length = math.sqrt(math.fsum(value * value for value in vector))
    if length < 1e-9:
        # No word at all (signs, emoji), or the places that are left are all empty: the characters decide.
        vector = [0.0] * len(vector)
        for place, value in zip(*_places(text.strip() or text, STEM_PLACES), strict=True):
            vector[place % len(vector)] += value
        vector[0] += 0.5  # eight signs can cancel out, a half is left over then
        length = math.sqrt(math.fsum(value * value for value in vector))
    return array("f", [value / length for value in vector])


@lru_cache(maxsize=20_000)
def _word_vector(word: str) -> Sparse:
    weight = _weight(word)
    total: dict[int, float] = {}
    _add(total, _places(f"w:{word}", STEM_PLACES), weight / math.sqrt(STEM_PLACES))
    names = concepts(word)
    for name in names:
        share = weight * CONCEPT_WEIGHT / math.sqrt(STEM_PLACES * len(names))
        _add(total, _places(f"c:{name}", STEM_PLACES), share)
    trigrams = _trigrams(word)
    for trigram in trigrams:
        share = weight * TRIGRAM_WEIGHT / math.sqrt(len(trigrams) * TRIGRAM_PLACES)
        _add(total, _places(f"t:{trigram}", TRIGRAM_PLACES), share)
    return tuple(total), tuple(total.values())


def _weight(word: str) -> float:
    if is_stop_word(word):
        return STOP_WORD_WEIGHT
    return min(1.0, 0.55 + 0.1 * len(word)) * (EVERYDAY_WEIGHT if is_everyday(word) else 1.0)


def _add(total: dict[int, float], sparse: Sparse, weight: float) -> None:
    for place, sign in zip(*sparse, strict=True):
        total[place] = total.get(place, 0.0) + weight * sign


def _trigrams(word: str) -> list[str]:
    edged = f"^{word}$"
    return [edged[i : i + 3] for i in range(len(edged) - 2)] if len(word) > 2 else []


@lru_cache(maxsize=50_000)
def _places(feature: str, count: int) -> Sparse:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=2 * count).digest()
    numbers = [int.from_bytes(digest[i : i + 2], "little") for i in range(0, 2 * count, 2)]
    return tuple((n & 0x7FFF) % DIMENSION for n in numbers), tuple(_signs(numbers))


def _signs(numbers: Iterable[int]) -> Iterable[float]:
    return (1.0 if number & 0x8000 else -1.0 for number in numbers)
