"""Text into the words that carry its meaning: folding, splitting, light stemming, likeness of two words. Pure."""

import re
import unicodedata
from functools import cache, lru_cache

from simulator.thesaurus import CONCEPTS, EVERYDAY, IRREGULAR, NUMBERS, PARTICLES, STOP_WORDS

# Scripts written without spaces: kana, Han, Hangul, and the compatibility forms that folding leaves.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
_PIECES = re.compile(rf"[{CJK}]+|(?:(?![{CJK}])[^\W_])+(?:['’](?:(?![{CJK}])[^\W_])+)*")
_IS_CJK = re.compile(rf"[{CJK}]")
_MARKS = re.compile("[\u0300-\u036f]")
_VOWEL = re.compile("[aeiouy]")

# "Send the whole thing back": more than three words between verb and particle, and they belong apart.
PARTICLE_REACH = 4
SAME_CONCEPT = 0.85
SAME_BUT_MISTYPED = 0.9
# Shorter words differ by one letter and mean something else: cash, wash.
LEAST_TYPO_LETTERS = 6
EVERYDAY_WEIGHT = 0.4
# A word of the tables is one that shops use; what stands in none of them is what a text is about.
KNOWN_WEIGHT = 0.7


def fold(text: str) -> str:
    """The text in lower case without accents; other scripts keep the marks that make their letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def words(text: str) -> list[str]:
    """Folded words in their order; a run of CJK becomes its characters and its pairs of neighbours."""
    found: list[str] = []
    for piece in _PIECES.findall(fold(text)):
        if _IS_CJK.match(piece):
            found.extend(piece)
            found.extend(piece[i : i + 2] for i in range(len(piece) - 1))
        else:
            found.append(piece)
    return found


def is_stop_word(word: str) -> bool:
    """Whether the folded word says little about what a text is about."""
    return word.replace("’", "'") in STOP_WORDS or (len(word) == 1 and word.isascii() and word.isalpha())


def stems(text: str) -> list[str]:
    """The stems of the meaningful words, in their order, repeats included; "sent it back" is one: send-back."""
    return [unit for unit in units(text) if not is_stop_word(unit)]


def units(text: str) -> list[str]:
    """Stop words as they are, other words as stems, and pairs that mean one thing as one unit."""
    found = words(text)
    kept: list[str | None] = [word if is_stop_word(word) else stem(word) for word in found]
    for place, word in enumerate(found):
        for partner in range(place + 1, min(place + 1 + PARTICLE_REACH, len(found))):
            pair = f"{stem(word)}-{found[partner]}"
            is_near = partner == place + 1 or found[partner] in PARTICLES
            if is_near and kept[place] is not None and kept[partner] is not None and pair in _pairs():
                kept[place], kept[partner] = pair, None
                break
    return [unit for unit in kept if unit is not None]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The folded word without possessive, plural, -ing or -ed, and without its last e: returns, returned → return."""
    word = re.sub("['’]s?$", "", word) or word
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _irregular().get(word) or NUMBERS.get(word) or word
    if len(word) < 4:
        return word
    word = _without_verb_ending(_without_plural(word))
    if word.endswith("y") and len(word) > 4:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    return word


@cache
def _irregular() -> dict[str, str]:
    lines = [line.split() for line in IRREGULAR.strip().splitlines()]
    return {word: line[0] for line in lines for word in line[1:]}


def _unit(entry: str) -> str:
    """A table's entry as `units` gives it."""
    first, dash, second = entry.partition("-")
    return f"{stem(first)}-{second}" if dash else stem(entry)


@cache
def _pairs() -> frozenset[str]:
    return frozenset(_unit(entry) for entry in CONCEPTS.split() if "-" in entry)


@cache
def _concept_table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for line in CONCEPTS.strip().splitlines():
        names = dict.fromkeys(_unit(entry) for entry in line.split())
        for unit in names:
            table[unit] = (*table.get(unit, ()), line.split()[0])
    return table


def is_everyday(unit: str) -> bool:
    """Whether the stem is one that nearly every text about a shop has."""
    return unit in _everyday()


@cache
def _everyday() -> frozenset[str]:
    return frozenset(stem(word) for word in EVERYDAY.split())


@lru_cache(maxsize=50_000)
def concepts(unit: str) -> tuple[str, ...]:
    """The names of the concepts that the stem belongs to, none for most; a mistyped one has those of the right one."""
    table = _concept_table()
    if unit in table or is_stop_word(unit) or len(unit) + 1 < LEAST_TYPO_LETTERS:
        return () if is_stop_word(unit) else table.get(unit, ())
    near = (one for one in table if abs(len(one) - len(unit)) <= 1 and _is_mistyped(*sorted((unit, one), key=len)))
    return table.get(next(near, ""), ())


def telling(unit: str) -> float:
    """How much the stem says about a text among other texts of shops: 1, less for what some or all of them say."""
    if is_everyday(unit):
        return EVERYDAY_WEIGHT
    return KNOWN_WEIGHT if unit in _concept_table() else 1.0


@lru_cache(maxsize=200_000)
def likeness(one: str, other: str) -> float:
    """How surely two stems mean the same, 0 to 1: equal or one the other's beginning, mistyped, of one concept."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    longest_ending = 6 if len(short) >= 5 else 4
    if len(short) >= 4 and short.isalpha() and long.startswith(short) and len(long) - len(short) <= longest_ending:
        return 1.0
    if set(concepts(one)) & set(concepts(other)):
        return SAME_CONCEPT
    return SAME_BUT_MISTYPED if _is_mistyped(short, long) else 0.0


def _is_mistyped(short: str, long: str) -> bool:
    """Whether one letter was added, left out, replaced, or two neighbours changed places."""
    if len(long) < LEAST_TYPO_LETTERS or len(long) - len(short) > 1 or not (short + long).isalpha():
        return False
    start = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = long[start + 1 : start + 2] + long[start : start + 1] + long[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or short[start:] == swapped
