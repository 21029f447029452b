"""Text into the words that carry its meaning: folding, splitting, light stemming. Pure."""

import re
import unicodedata
from functools import cache, lru_cache

# Scripts written without spaces: kana, Han, Hangul, and the compatibility forms that folding leaves.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
_PIECES = re.compile(rf"[{CJK}]+|(?:(?![{CJK}])[^\W_])+(?:['’](?:(?![{CJK}])[^\W_])+)*")
_IS_CJK = re.compile(rf"[{CJK}]")
_MARKS = re.compile("[\u0300-\u036f]")
_VOWEL = re.compile("[aeiouy]")

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being below between both but by
    can cannot could did do does doing down during each ever few for from further get gets getting give given go goes
    going got had has have having he her here hers him his how i if in into is it its itself just know let like long
    many may me might more most much must my myself need needs no nor not now of off on once one only or other our
    ours out over own per please same shall she should so some someone something such tell than that the their theirs
    them then there these they this those through to too under until up upon us use used using very want wants was we
    were what when where whether which while who whom whose why will with within without would yes you your yours
    much happen happens possible anyone anything there's what's it's i'm don't doesn't can't won't isn't""".split()  # noqa: SIM905  # words read better as prose than as a list
)


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
    """The stems of the meaningful words, in their order, repeats included."""
    return [stem(word) for word in words(text) if not is_stop_word(word)]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The folded word without possessive, plural, -ing or -ed, and without its last e: returns, returned → return."""
    word = re.sub("['’]s?$", "", word) or word
    if len(word) < 4 or not word.isascii() or not word.isalpha():
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


# Words of shops and help desks that ask for the same thing. A line is a concept, named by its first word.
_CONCEPTS = """
return send sent back
refund reimburse repay money
deliver delivery ship shipment shipping dispatch arrive arrival
parcel package packet
buy bought purchase order
fee cost price charge surcharge
defective faulty broken damaged damage
cancel cancellation
employee staff worker colleague
customer client shopper buyer
warranty guarantee
delay late
complaint complain
"""


@cache
def _concept_table() -> dict[str, str]:
    lines = [line.split() for line in _CONCEPTS.strip().splitlines()]
    return {stem(word): line[0] for line in lines for word in line}


def concept(stemmed: str) -> str | None:
    """The name of the concept that the stem belongs to, None for most stems."""
    return _concept_table().get(stemmed)


def is_same(one: str, other: str) -> bool:
    """Whether two stems mean the same: equal, of one concept, or one the other's beginning (ship, shipment)."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and short.isalpha() and len(short) >= 4:
        return len(long) - len(short) <= (6 if len(short) >= 5 else 4)
    return concept(one) is not None and concept(one) == concept(other)
