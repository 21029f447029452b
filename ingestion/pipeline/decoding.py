"""Bytes to text, in the order of the contract: the mark, strict UTF-8, the declared charset, detection, or a refusal.

Never a replacement character: what can't be decoded whole is refused with the byte and the encodings that were tried.
Line ends and control characters are not looked after here, only counted, to tell a text from a binary file.
"""

import codecs
import re

from ingestion.pipeline.charsets import detect, detect_utf16, looks_like_words
from ingestion.pipeline.reading_errors import UndecodableText

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# (offset, bytes, name) of the files that are uploaded by mistake; each has bytes that no text begins with.
_BINARY_FORMATS = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (8, b"WEBPVP8", "a WebP image"),
    (0, b"%PDF-", "a PDF"),
    (0, b"PK\x03\x04", "a ZIP archive or an Office document"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (0, b"\x1f\x8b\x08", "a gzip archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (4, b"1AY&SY", "a bzip2 archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"\x00asm", "a WebAssembly module"),
    (0, b"\xca\xfe\xba\xbe", "a Java class"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"OggS\x00", "an Ogg file"),
    (4, b"ftyp", "an MP4 file"),
)

# Codecs that turn bytes into text by a meaning of their own: a declared one would let escapes pass unseen.
_NOT_CHARSETS = frozenset(
    {"unicode-escape", "raw-unicode-escape", "utf-7", "idna", "punycode", "undefined", "mbcs", "oem"}
)
# Text with a few stray controls is text; from this many on, and a tenth of all, it is something else.
_FEWEST_CONTROLS = 8
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_JAPANESE_SHIFT = b"\x1b$"
_C1 = re.compile(rb"[\x80-\x9f]")
_ADVICE = "Save the file as UTF-8."


def decode(content: bytes, charset: str | None) -> str:
    """The text of `content`, with line ends and controls as they are; UndecodableText names what stood in the way."""
    _refuse_known_formats(content)
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decoded_by_mark(content, encoding)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _decoded_otherwise(content, charset, _offence(content, error))
    if _JAPANESE_SHIFT in content:
        # ISO-2022-JP is valid ASCII: only its escapes tell it.
        text = _decoded_as_iso2022(content) or text
    if not (_is_binary(text) or _has_every_second_nul(content)):
        return text
    return _decoded_as_utf16(content, charset, text)


def _decoded_as_iso2022(content: bytes) -> str | None:
    try:
        return content.decode("iso2022_jp")
    except UnicodeDecodeError:
        return None


def _refuse_known_formats(content: bytes) -> None:
    for offset, magic, name in _BINARY_FORMATS:
        if content.startswith(magic, offset):
            raise UndecodableText(
                f"The content looks like a binary file, {name}, not text: it begins with byte 0x{content[0]:02X} at "
                f"offset 0 and the marks of that format."
            )


def _decoded_by_mark(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        raise UndecodableText(
            f"The byte-order mark says {name}, but {_offence(content, error)} is not valid in it. {_ADVICE}"
        ) from error
    if _is_binary(text):
        raise _binary(content, text)
    return text


def _decoded_as_utf16(content: bytes, charset: str | None, text: str) -> str:
    """UTF-16 without a mark is valid UTF-8 full of controls: as declared or detected, else it is a binary file."""
    declared = _decoded_as_declared(content, charset)[0] if charset else None
    found = declared or detect_utf16(content)
    if found is None:
        raise _binary(content, text)
    return found


def _has_every_second_nul(content: bytes) -> bool:
    return len(content) > 3 and not len(content) % 2 and not (any(content[::2]) and any(content[1::2]))


def _decoded_otherwise(content: bytes, charset: str | None, offence: str) -> str:
    """By the declared charset, else by what is detected; `offence` names the byte that is not UTF-8."""
    tried = "no charset is declared"
    if charset:
        text, tried = _decoded_as_declared(content, charset)
        if text is not None:
            return text
    detected = detect(content)
    if detected.text is not None:
        return detected.text
    if detected.is_binary:
        raise UndecodableText(
            f"The content looks like a binary file, not text: {offence} is not valid UTF-8, {tried}, and no other "
            f"encoding makes words of it."
        )
    raise UndecodableText(f"{_sentence(offence)} is not valid UTF-8, {tried}, and {detected.reason}. {_ADVICE}")


def _decoded_as_declared(content: bytes, charset: str) -> tuple[str | None, str]:
    name = charset.strip().strip("\"'")
    try:
        codec = codecs.lookup(name).name
        if codec.replace("_", "-") in _NOT_CHARSETS:
            raise LookupError(name)
        if codec == "iso8859-1" and _C1.search(content):
            # What is called Latin-1 and uses these bytes is Windows-1252, as every browser reads it.
            codec = "cp1252"
        text = content.decode(codec)
        text.encode("utf-8")
    except UnicodeDecodeError as error:
        return None, f"{_offence(content, error)} is not valid in the declared charset {name[:40]!r} either"
    except (LookupError, ValueError) as error:
        raise UndecodableText(
            f"The declared charset {name[:40]!r} is not known, and the content is not UTF-8. {_ADVICE}"
        ) from error
    if _is_binary(text) or not looks_like_words(text):
        return None, f"the declared charset {name[:40]!r} makes no words of it"
    return text, ""


def _offence(content: bytes, error: UnicodeDecodeError) -> str:
    # The decoder of UTF-8 with a mark counts from behind the mark.
    offset = min(error.start + len(content) - len(error.object), len(content) - 1)
    return f"byte 0x{content[offset]:02X} at offset {offset}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _is_binary(text: str) -> bool:
    count = sum(1 for _ in _CONTROLS.finditer(text))
    return count >= _FEWEST_CONTROLS and count * 10 > len(text)


def _binary(content: bytes, text: str) -> UndecodableText:
    count = sum(1 for _ in _CONTROLS.finditer(text))
    first = _CONTROLS.search(text)
    offset = len(text[: first.start()].encode()) if first else 0
    return UndecodableText(
        f"The content looks like a binary file, not text: {count} of {len(text)} characters are control characters, "
        f"the first is byte 0x{content[min(offset, len(content) - 1)]:02X} at offset {offset}."
    )
