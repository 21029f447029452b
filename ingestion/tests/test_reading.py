"""Bytes to text: what is decoded, what is refused, and what a refusal says."""

import random

import pytest

from ingestion.pipeline.media_types import DOCX
from ingestion.pipeline.reading import (
    EmptyDocument,
    ReadingError,
    UndecodableText,
    UnsupportedType,
    find_title,
    media_type_of,
    read_text,
)

GERMAN = "Die Rückgabe ist innerhalb von dreißig Tagen möglich."
TYPOGRAPHY = "Tomás’s order — “returns” — costs 5 €."
RUSSIAN = "Клиент может вернуть товар в течение тридцати дней."
JAPANESE = "顧客は三十日以内に商品を返品することができます。送料は無料です。"


def read(content: bytes, charset: str | None = None, media_type: str = "text/markdown") -> str:
    return read_text(content, media_type=media_type, charset=charset)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_not_part_of_the_text(encoding: str) -> None:
    assert read(TYPOGRAPHY.encode(encoding), charset="windows-1251") == TYPOGRAPHY


@pytest.mark.parametrize("encoding,mark", [("utf-16-be", b"\xfe\xff"), ("utf-32-be", b"\x00\x00\xfe\xff")])
def test_a_mark_tells_big_endian_too(encoding: str, mark: bytes) -> None:
    assert read(mark + JAPANESE.encode(encoding)) == JAPANESE


def test_valid_utf8_wins_over_a_declared_charset() -> None:
    assert read(GERMAN.encode(), charset="iso-8859-1") == GERMAN


@pytest.mark.parametrize(
    "text,encoding",
    [(GERMAN, "latin-1"), (RUSSIAN, "koi8-r"), (JAPANESE, "shift_jis"), (GERMAN, "utf-16-le"), (RUSSIAN, "utf-16-be")],
)
def test_a_declared_charset_is_used_where_utf8_fails(text: str, encoding: str) -> None:
    assert read(text.encode(encoding), charset=encoding) == text


def test_declared_latin_1_with_windows_quotes_is_windows_1252() -> None:
    assert read(TYPOGRAPHY.encode("cp1252"), charset="ISO-8859-1") == TYPOGRAPHY


@pytest.mark.parametrize(
    "text,encoding",
    [
        (GERMAN, "cp1252"),
        (TYPOGRAPHY, "cp1252"),
        ("# Café", "cp1252"),
        ("L’article coûte 5 € — « déjà vu » à Noël.", "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso2022_jp"),
        ("客户可以在三十天内退货。运费由商店承担。", "gb18030"),
        ("고객은 30일 이내에 상품을 반품할 수 있습니다.", "euc-kr"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (RUSSIAN, "utf-16-le"),
        ("hi", "utf-16-le"),
    ],
)
def test_an_undeclared_encoding_is_detected_where_it_is_certain(text: str, encoding: str) -> None:
    assert read(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "text,encoding",
    [
        ("A vevő visszaküldheti az árut. Az őszi hűvös idő.", "cp1250"),
        ("Müşteri ürünü otuz gün içinde iade edebilir.", "cp1254"),
        ("Pircējs var atgriezt preci.", "cp1257"),
        ("Dobrý den, věc je v pořádku.", "cp1250"),
    ],
)
def test_a_doubtful_encoding_is_refused_or_right_but_never_wrong(text: str, encoding: str) -> None:
    try:
        result = read(text.encode(encoding))
    except UndecodableText:
        return
    assert result == text


def test_a_refusal_names_the_byte_its_offset_and_what_was_tried() -> None:
    with pytest.raises(UndecodableText) as caught:
        read(b"caf\xe9 \x81", charset="utf-8")
    assert caught.value.code == "undecodable_text"
    assert "0xE9 at offset 3" in caught.value.detail
    assert "'utf-8'" in caught.value.detail


def test_a_broken_text_behind_a_mark_names_the_byte_by_its_place_in_the_file() -> None:
    with pytest.raises(UndecodableText, match="says UTF-8, but byte 0xFF at offset 6"):
        read(b"\xef\xbb\xbfabc\xff")


@pytest.mark.parametrize("name", ["klingon", "rot13", "utf-7", "unicode_escape", "a\0b"])
def test_an_unknown_charset_is_named(name: str) -> None:
    with pytest.raises(UndecodableText) as caught:
        read(b"caf\xe9 \\ud800", charset=name)
    assert repr(name) in caught.value.detail


@pytest.mark.parametrize(
    "content,name",
    [
        (b"\x89PNG\r\n\x1a\n" + b"x" * 50, "PNG"),
        (b"PK\x03\x04" + b"x" * 50, "ZIP"),
        (b"%PDF-1.7\nHello", "PDF"),
        (bytes(range(32)) * 10, "control characters"),
        (b"\x00" * 100, "control characters"),
    ],
)
def test_a_binary_file_called_text_is_refused_as_one(content: bytes, name: str) -> None:
    with pytest.raises(UndecodableText, match="looks like a binary file") as caught:
        read(content)
    assert name in caught.value.detail


@pytest.mark.parametrize("charset", [None, "latin-1", "utf-16", "cp437"])
def test_random_bytes_are_never_taken_for_text(charset: str | None) -> None:
    source = random.Random(7)
    for size in [64, 200, 1_000, 20_000]:
        with pytest.raises(UndecodableText):
            read(source.randbytes(size), charset=charset)


def test_control_characters_become_one_space_each_and_line_ends_line_feeds() -> None:
    assert read(b"a\x00b\x07c\x7fd\xc2\x85e\tf\r\ng\rh\x0ci") == "a b c d e\tf\ng\nh i"


def test_special_tokens_are_plain_text() -> None:
    assert read(b"say <|endoftext|> here") == "say <|endoftext|> here"


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", "\u200b\u00a0\n".encode(), b"\x00\x00"])
def test_a_document_without_words_is_empty(content: bytes) -> None:
    with pytest.raises(EmptyDocument) as caught:
        read(content)
    assert caught.value.code == "empty_document"


def test_front_matter_alone_is_an_empty_markdown_document_but_plain_text() -> None:
    content = b"---\ntitle: Returns\ntags:\n  - a\n---\n\n"
    with pytest.raises(EmptyDocument, match="front matter"):
        read(content)
    assert read(content, media_type="text/plain") == content.decode()


@pytest.mark.parametrize(
    "header,name,expected",
    [
        ("text/markdown", None, ("text/markdown", None)),
        ("Text/X-Markdown; charset=latin-1", "a.txt", ("text/markdown", "latin-1")),
        ('text/plain; charset="UTF-8"', "a.md", ("text/plain", "UTF-8")),
        ("application/octet-stream", "Returns.MD", ("text/markdown", None)),
        (None, "C:\\policies\\returns.markdown", ("text/markdown", None)),
        ("", "../../a.txt", ("text/plain", None)),
        ("application/xhtml+xml; charset=utf-8", None, ("text/html", "utf-8")),
        (None, "Returns.HTM", ("text/html", None)),
        ("application/x-pdf", "a.md", ("application/pdf", None)),
        ("application/octet-stream", "a.PDF", ("application/pdf", None)),
        (None, "a.docx", (DOCX, None)),
        (DOCX, None, (DOCX, None)),
    ],
)
def test_the_type_comes_from_the_header_and_else_from_the_file_name(
    header: str | None, name: str | None, expected: tuple[str, str | None]
) -> None:
    assert media_type_of(header, name) == expected


@pytest.mark.parametrize(
    "header,name",
    [
        ("image/png", "a.md"),
        ("application/msword", "a.docx"),
        (None, "a.xlsx"),
        (None, None),
        ("application/octet-stream", "md"),
    ],
)
def test_any_other_type_is_refused_and_told_what_is_read(header: str | None, name: str | None) -> None:
    with pytest.raises(UnsupportedType, match=r"text/markdown \(\.md, \.markdown\)") as caught:
        media_type_of(header, name)
    assert caught.value.code == "unsupported_type"
    assert isinstance(caught.value, ReadingError)


@pytest.mark.parametrize(
    "text,title",
    [
        ("---\ntitle: 'Returns: the rules'\n---\n# Other", "Returns: the rules"),
        ("---\ntitle: >\n  folded\n---\n# **Returns** and `__init__` [here](x.md) #", "Returns and __init__ here"),
        ("```\n# no\n```\n    # no\n\n## Second\n\nBig *one*\n=======\n", "Big one"),
        ("> # no\n\n- # no\n\n# Yes", "Yes"),
        ("no heading\n\n## only a second level", None),
        ("---\n\ntext: under a rule\n\n---\n\n# Title", "Title"),
        ("# " + "é" * 300, "é" * 200),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_real_heading(text: str, title: str | None) -> None:
    assert find_title(text) == title
