"""Text to chunks: the Markdown cases that went wrong elsewhere, one by one."""

import pytest

from ingestion.pipeline.chunking import ChunkSpan, chunk_text, embedded_text
from ingestion.pipeline.tokens import clip_tokens, count_tokens

WORDS = "A customer may send the goods back within thirty days of the delivery and gets the whole price back. "


def chunks_of(text: str, media_type: str = "text/markdown") -> list[ChunkSpan]:
    return chunk_text(text, media_type=media_type)


def slices_of(text: str, media_type: str = "text/markdown") -> list[str]:
    return [text[span.start : span.end] for span in chunks_of(text, media_type)]


def paths_of(text: str) -> list[tuple[str, ...]]:
    return [span.heading_path for span in chunks_of(text)]


def test_every_heading_of_a_grown_section_begins_a_chunk_with_its_path() -> None:
    body = WORDS * 3
    headings = ["# Returns", "## Period", "Exceptions\n----------", "### Mattresses ###"]
    text = "".join(f"{heading}\n\n{body}\n\n" for heading in headings)
    assert paths_of(text) == [
        ("Returns",),
        ("Returns", "Period"),
        ("Returns", "Exceptions"),
        ("Returns", "Exceptions", "Mattresses"),
    ]
    assert chunks_of(text)[3].embedding_prefix == "Returns > Exceptions > Mattresses\n\n"


@pytest.mark.parametrize(
    "block",
    [
        "```\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~",
        "````\n```\n# no\n````",
        "    # no",
        "<div>\n# no\n</div>",
        "<!--\n\n# no\n-->",
        "> # no",
        "- a\n\n      # no",
        "- ```\n  # no\n  ```",
        "#no",
        "####### no",
        "\\# no",
        "| a |\n|---|\n| # no |",
    ],
)
def test_what_only_looks_like_a_heading_is_none(block: str) -> None:
    assert set(paths_of(f"# Real\n\n{WORDS * 2}\n\n{block}\n\n{WORDS}\n")) == {("Real",)}


def test_an_unclosed_fence_goes_on_to_the_end() -> None:
    text = f"# Real\n\n```\n{WORDS}\n# no\n\n# no\n" + "line = 1  # no\n" * 200
    assert set(paths_of(text)) == {("Real",)}
    assert all(piece.endswith("\n") for piece in slices_of(text))


def test_a_fence_inside_a_list_item_ends_with_the_item() -> None:
    text = f"- ```\n  open\n\n# Yes\n\n{WORDS * 3}"
    assert paths_of(text)[-1] == ("Yes",)


def test_front_matter_is_no_chunk_and_offsets_begin_behind_it() -> None:
    text = "---\ntitle: Returns\n---\n# Returns\n\nWords.\n"
    assert slices_of(text) == ["# Returns\n\nWords.\n"]
    assert chunks_of("---\ntitle: Returns\n---\n") == []
    assert chunks_of("---\ntitle: Returns\n---") == []


@pytest.mark.parametrize(
    "text", ["---\n\nWords.\n\n---\n\nMore.\n", "---\ntitle: never closed\n\nWords.\n", "\n---\na: b\n---\n"]
)
def test_a_rule_at_the_start_is_no_front_matter(text: str) -> None:
    assert "".join(slices_of(text)) == text


@pytest.mark.parametrize("text", ["", "\n \n\t", "\u3000\n\u00a0"])
def test_a_text_without_words_has_no_chunk(text: str) -> None:
    assert chunks_of(text) == []
    assert chunks_of(text, "text/plain") == []


def test_headings_without_text_go_with_what_follows_and_take_its_path() -> None:
    text = f"# One\n\n## Two\n\n### Three\n\n{WORDS * 4}\n"
    assert slices_of(text) == [text]
    assert paths_of(text) == [("One", "Two", "Three")]


def test_tiny_sections_under_one_parent_share_a_chunk() -> None:
    text = "# Terms\n\n" + "".join(f"## Term {number}\n\nIt means {number}.\n\n" for number in range(40))
    lengths = [len(piece) for piece in slices_of(text)]
    assert 2 <= len(lengths) <= 8
    assert all(piece.startswith("#") for piece in slices_of(text))


def test_a_long_table_is_cut_between_rows_and_its_head_is_embedded_again() -> None:
    head = "| Product | Period |\n|---|---|\n"
    rows = "".join(f"| Product number {number} | {number} days after the delivery |\n" for number in range(100))
    text = f"# Periods\n\n{head}{rows}"
    first, *others = chunks_of(text)
    assert text[first.start : first.end].startswith("# Periods\n\n| Product")
    assert first.embedding_prefix == "Periods\n\n"
    assert len(others) > 3
    for span in others:
        assert span.embedding_prefix == f"Periods\n\n{head}"
        assert text[span.start : span.end].startswith("| Product number")
        assert text[span.start : span.end].endswith(" |\n")


def test_a_long_list_is_cut_between_items_and_keeps_its_introduction() -> None:
    items = "".join(f"- item {number}: {WORDS}\n\n  more of it\n" for number in range(40))
    first, *others = slices_of(f"# List\n\nThese are excluded:\n\n{items}")
    assert "excluded:\n\n- item 0" in first
    assert others
    assert all(piece.startswith("- item ") for piece in others)


def test_a_list_that_fits_stays_with_the_line_that_leads_to_it() -> None:
    items = "".join(f"- item number {number} of the list\n" for number in range(12))
    text = "# A\n\n" + "".join(f"{WORDS * 2}\n\nThese are excluded, part {part}:\n\n{items}\n" for part in range(6))
    assert len(slices_of(text)) > 3
    for piece in slices_of(text):
        assert piece.count(":\n\n- item number 0") == piece.count(":\n")


def test_a_long_paragraph_is_cut_behind_sentences() -> None:
    text = "".join(f"Rule {number} holds. {WORDS}" for number in range(60))
    pieces = slices_of(text)
    assert len(pieces) > 5
    assert all(piece.endswith((". ", ".")) for piece in pieces)


def test_plain_text_knows_paragraphs_only() -> None:
    text = "---\na: b\n---\n\n# not a heading\n\n```\n" + f"{WORDS * 2}\n\n" * 20
    assert "".join(slices_of(text, "text/plain")) == text
    assert {span.heading_path for span in chunks_of(text, "text/plain")} == {()}


@pytest.mark.parametrize("grapheme", ["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "नि", "각", "👍🏽"])
def test_no_cut_falls_inside_a_grapheme_of_an_endless_word(grapheme: str) -> None:
    text = grapheme * 4_000
    assert {span.start % len(grapheme) for span in chunks_of(text)} == {0}


@pytest.mark.parametrize(
    "text",
    [
        "var a=function(){return b[0]?c:d};" * 30_000,
        "https://example.org/a/b?c=d&e=f," * 30_000,
        "顧客は三十日以内に商品を返品できます" * 20_000,
        "👩‍👩‍👧‍👦" * 40_000,
        "a" + "\u0301" * 200_000,
        "<|endoftext|>" * 40_000,
        "| a | b |\n|---|---|\n" + "| x | y |\n" * 50_000,
        ">" * 300_000,
    ],
)
def test_no_chunk_is_above_the_limits_whatever_the_text(text: str) -> None:
    spans = chunks_of(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert max(span.end - span.start for span in spans) <= 1000
    assert max(count_tokens(embedded_text(text, span)) for span in spans) <= 480


def test_a_megabyte_of_blanks_is_carried_by_a_word_and_embedded_as_one() -> None:
    text = "one" + " " * 1_000_000 + "two"
    spans = chunks_of(text)
    assert all(text[span.start : span.end].strip() for span in spans)
    assert max(len(embedded_text(text, span)) for span in spans) < 20


def test_an_edit_of_one_section_leaves_the_others_alone() -> None:
    sections = [f"## Part {number}\n\n{WORDS * 4}\n\n" for number in range(50)]
    before = "# Title\n\n" + "".join(sections)
    sections[10] = "## Part 10\n\nAnother text stands here now.\n\n"
    after = "# Title\n\n" + "".join(sections)
    old = {embedded_text(before, span) for span in chunks_of(before)}
    new = {embedded_text(after, span) for span in chunks_of(after)}
    assert len(new - old) <= 2


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chunk_text("a", media_type="text/plain", max_tokens=0)


def test_tokens_are_those_of_cl100k_and_special_ones_are_plain_text() -> None:
    assert count_tokens("hello world") == 2
    assert count_tokens("<|endoftext|>") == 7
    assert count_tokens("") == 0


@pytest.mark.parametrize("text", ["hello world " * 50, "👩‍👩‍👧‍👦" * 20, " " * 1_000, "<|endoftext|>" * 9])
@pytest.mark.parametrize("limit", [0, 1, 7, 10_000])
def test_a_clipped_text_is_a_start_of_the_text_within_the_limit(text: str, limit: int) -> None:
    clipped = clip_tokens(text, limit)
    assert text.startswith(clipped)
    assert count_tokens(clipped) <= limit
    assert clipped == text or limit < count_tokens(text)
