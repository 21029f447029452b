"""Tells the encoding of bytes that are not UTF-8 and say nothing of themselves, but only with confidence.

charset-normalizer ranks the candidates; alone it takes French in Windows-1252 for Hungarian. So a candidate must also
read like words: Western text by the letters and marks it may hold and where they may stand, other scripts by being
the script of most letters. Where two readings stay possible there is none: a wrong word is worse than a refusal.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import islice

import charset_normalizer

# Enough of a text to judge it by.
_SAMPLE = 20_000
_SMALL = "àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿß"
_CAPITAL = "ÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜŸ"
_INNER_MARKS = "“”„‚«»‹›•¡¿£€¥§©²³½¼¾ªº¢†"
_WESTERN = frozenset(_SMALL + _CAPITAL + _INNER_MARKS + "‘’–—…·®™°\u00a0\u00ad")
# What gives a wrong reading away: a capital or a mark inside a word, a cedilla before a consonant, four accented
# letters in a row; below, Hungarian's double acute (read as õ or û) beside its umlauts.
_MISPLACED = re.compile(
    rf"[a-z{_SMALL}][{_CAPITAL}][a-z]|[^\W\d_][{_INNER_MARKS}][^\W\d_]|[çÇ][b-df-hj-np-tv-z]|[{_SMALL}{_CAPITAL}]{{4}}"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_MOST_ACCENTED = 0.35

_MESS = 0.1
_COHERENCE = 0.4
_FEWEST_LETTERS = 8
_FOREIGN_SHARE = 0.3
_NATIVE_SCRIPTS = ("CYRILLIC", "GREEK", "HEBREW", "ARABIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI")
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})
# These differ from the Windows encodings of their scripts in the capitals only, and are not met any more.
_RARE = ["mac_cyrillic", "mac_greek"]
_EVERYDAY = ("gb2312", "shift_jis", "big5", "euc_kr")
_NOT_WORDS = frozenset({"Cn", "Co", "Cs", "Cc"})


@dataclass(frozen=True, slots=True)
class Detected:
    """The text, or why there is none."""

    text: str | None = None
    reason: str = ""
    is_binary: bool = False


def detect(content: bytes) -> Detected:
    """The text of bytes in a legacy encoding or in UTF-16 without a mark, where it can be told with confidence."""
    if (text := detect_utf16(content)) is not None:
        return Detected(text)
    ranked = list(charset_normalizer.from_bytes(content, cp_exclusion=_RARE))
    if (text := _western(content)) is not None and (not ranked or _has_latin(ranked)):
        return Detected(text)
    if not ranked:
        return Detected(reason="no other encoding was detected", is_binary=True)
    best = ranked[0]
    text = str(best)
    if best.chaos <= _MESS and not _CONTROLS.search(text) and looks_like_words(text) and _is_sure(best, ranked):
        return Detected(text)
    return Detected(reason=f"no other encoding is certain (the best guess is {best.encoding})")


def looks_like_words(text: str) -> bool:
    """Whether the text is nearly free of unassigned and private characters, which no document has many of."""
    odd = sum(1 for letter in text[:_SAMPLE] if letter > "\x7f" and unicodedata.category(letter) in _NOT_WORDS)
    return odd * 50 <= min(len(text), _SAMPLE)


def _western(content: bytes) -> str | None:
    """The text as Windows-1252, where every character and its place are what Western languages write."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    foreign = {letter for letter in text if letter > "\x7f"}
    if not foreign <= _WESTERN or _CONTROLS.search(text) or _MISPLACED.search(text):
        return None
    if foreign & set("õûÕÛ") and foreign & set("öüÖÜ"):
        return None
    letters = [letter for letter in text[:_SAMPLE] if letter.isalpha()]
    accented = sum(letter > "\x7f" for letter in letters)
    return text if accented <= len(letters) * _MOST_ACCENTED else None


def _has_latin(ranked: list[charset_normalizer.CharsetMatch]) -> bool:
    # Where nothing but other scripts fits, the Western reading is the wrong one.
    return any(not (_scripts(str(match)).keys() & set(_NATIVE_SCRIPTS)) for match in islice(ranked, 8))


def _is_sure(best: charset_normalizer.CharsetMatch, ranked: list[charset_normalizer.CharsetMatch]) -> bool:
    scripts = _scripts(str(best))
    letters = sum(scripts.values())
    native = {name: count for name, count in scripts.items() if name in _NATIVE_SCRIPTS}
    if not native:
        # Latin letters of another language: certain only where every candidate reads the same.
        return best.coherence >= _COHERENCE and len({str(match) for match in ranked}) == 1
    count = sum(native.values())
    is_known = best.coherence >= _COHERENCE or (set(native) <= _EAST_ASIAN and _is_everyday(str(best)))
    return count >= _FEWEST_LETTERS and count >= letters * _FOREIGN_SHARE and is_known


def _is_everyday(text: str) -> bool:
    """Whether one of the small, old sets of a language holds the text: random bytes give rare characters."""
    for encoding in _EVERYDAY:
        try:
            text[:_SAMPLE].encode(encoding)
        except UnicodeEncodeError:
            continue
        return True
    return False


def _scripts(text: str) -> Counter[str]:
    letters = (letter for letter in text[:_SAMPLE] if letter.isalpha())
    return Counter(unicodedata.name(letter, "UNKNOWN").split(" ")[0].split("-")[0] for letter in letters)


def detect_utf16(content: bytes) -> str | None:
    """The text as UTF-16 without a mark, where blanks and one script show which byte comes first."""
    if len(content) % 2 or len(content) < 4:
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _is_utf16_text(text):
            return text
    return None


def _is_utf16_text(text: str) -> bool:
    sample = text[:_SAMPLE]
    if any(unicodedata.category(letter) in _NOT_WORDS and letter not in "\t\n\r" for letter in sample):
        return False
    if all("\t" <= letter <= "~" for letter in sample):
        return True
    scripts = _scripts(sample)
    letters = sum(scripts.values())
    blanks = sample.count(" ") + sample.count("\n")
    # Read the wrong way round, the letters scatter over Han and rare scripts and no blank is left.
    return blanks * 20 >= len(sample) and letters >= _FEWEST_LETTERS and max(scripts.values()) >= letters * 0.8
