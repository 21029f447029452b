"""The meaningful words of a text, folded and stemmed, so that two wordings can be compared. Pure."""

import re
import unicodedata
from functools import lru_cache

# Scripts without spaces between words: each character counts as a word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|\d+(?:[.,:]\d+)*|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*")
_MARKS = re.compile("[\u0300-\u036f]")
_GROUPING = re.compile(r",(?=\d{3}(?:\D|$))")

_STOPS = """
    a about after all also am an and any are as at be because been before being both but by can could did do does
    each for from had has have he her his how i if in into is it its may me might more most must my no nor not of off
    on only or other our out over own shall she should so some such than that the their them then there these they
    this those through to too under until up us was we were what when where which while who whom why will with within
    without would yes you your
"""
_STOP_WORDS = frozenset(_STOPS.split())
# A sentence that writes a number out rests on a passage that has its digits, and the other way round.
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBERS = {word: str(value) for value, word in enumerate(_COUNTED.split())} | {
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
}


def terms(text: str) -> list[str]:
    """Stems of the meaningful words and plain numbers, in their order, repeats included."""
    folded = _fold(_GROUPING.sub("", text))
    return [_stem(word) for word in _WORD.findall(folded) if word not in _STOP_WORDS]


def numbers(found: list[str]) -> set[str]:
    """Those of the terms that are numbers."""
    return {term for term in found if term[0].isdigit()}


def _fold(text: str) -> str:
    lowered = text.casefold()
    if lowered.isascii():
        return lowered
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", lowered)))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """The word without possessive, plural, -ing or -ed; numbers in digits, without trailing zeros of decimals."""
    if word[0].isdigit():
        return re.sub(r"^(\d+)[.,]0+$", r"\1", word)
    word = re.sub("['’]s?$", "", word)
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "lsz" else word
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
