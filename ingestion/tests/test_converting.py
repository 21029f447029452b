"""HTML, PDF and Word files as Markdown: structure is kept, what a reader sees is kept, what is hidden is not."""

import pytest

from ingestion.pipeline.chunking import chunk_text
from ingestion.pipeline.converting.__main__ import convert
from ingestion.pipeline.converting.markdown import Markdown
from ingestion.pipeline.converting.refusals import Refused
from ingestion.pipeline.media_types import DOCX, HTML, PDF
from ingestion.tests.papers import Ink, docx, locked_pdf, paragraph, pdf, prose, table

MOST = 1_000_000
FULL = "Goods may be returned to any store within thirty days if they are unused and in the box"


def page(source: str) -> str:
    return convert(source.encode(), HTML, MOST)


def refused(content: bytes, media_type: str) -> Refused:
    with pytest.raises(Refused) as caught:
        convert(content, media_type, MOST)
    return caught.value


# --- HTML -------------------------------------------------------------------------------------------------------------


def test_a_page_keeps_headings_lists_quotes_code_and_the_words_of_links() -> None:
    assert page(
        "<title>T</title><h1>Returns <em>and</em> refunds</h1><p>See <a href='x'>the form</a>,<br>then\n wait."
        "<h3>Deep</h3><ul><li>one<ul><li>inner</ul><li><p>two<p>more</ul><ol start=3><li>x<li>y</ol>"
        "<blockquote>quoted<p>again</blockquote><pre>a\n  ```\n</pre><p>run <code>ls</code><hr>end &amp; over"
    ) == (
        "# Returns and refunds\n\nSee the form,\nthen wait.\n\n### Deep\n\n- one\n  - inner\n- two\n\n  more\n"
        "3. x\n4. y\n\n> quoted\n>\n> again\n\n````\na\n  ```\n````\n\nrun `ls`\n\n***\n\nend & over\n"
    )


def test_a_table_keeps_its_header_and_fills_what_cells_span() -> None:
    assert page(
        "<table><caption>Fees</caption><thead><tr><th>Country<th colspan=2>Price</thead>"
        "<tr><td rowspan=2>Spain<td>a|b<td>1 <b>€</b><tr><td><p>c<p>d<td>2</table>"
    ) == ("Fees\n\n| Country | Price | Price |\n|---|---|---|\n| Spain | a\\|b | 1 € |\n| Spain | c d | 2 |\n")


def test_a_table_whose_headers_stand_in_its_first_column_gets_an_empty_head() -> None:
    source = "<table><tr><th>Owner<td>Mei<tr><th>Since<td>2026</table>"
    assert page(source) == "|  |  |\n|---|---|\n| Owner | Mei |\n| Since | 2026 |\n"


def test_a_table_that_only_places_blocks_is_no_table() -> None:
    source = "<table><tr><td><h2>Left</h2>words<td><table><tr><td>a<td>b<tr><td>1<td>2</table></table>"
    assert page(source) == "## Left\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def test_what_a_reader_does_not_see_is_left_out() -> None:
    source = (
        "<head><style>p{}</style><title>T</title></head><h1>Seen</h1><script>no()</script><!-- no --><p hidden>no</p>"
        "<div style='color:red; DISPLAY : none'>no</div><template>no</template><img src=x alt='A box'><p>yes"
    )
    assert page(source) == "# Seen\n\nA box\n\nyes\n"


def test_struck_and_raised_text_keeps_its_meaning() -> None:
    assert page("<p>within <del>14</del> 30 days, 10<sup>2</sup> boxes") == "within ~~14~~ 30 days, 10^2 boxes\n"


def test_a_page_without_a_first_heading_has_its_title_as_one() -> None:
    assert page("<title>Gift cards &amp; more</title><h2>Use</h2>x") == "# Gift cards & more\n\n## Use\n\nx\n"


@pytest.mark.parametrize("line", ["# h", "---", "===", "```", "<div>", "| - |", "- - -"])
def test_words_of_a_paragraph_open_no_block(line: str) -> None:
    text = page(f"<p>before<br>{line.replace('<', '&lt;')}<p>after")
    assert text == f"before\n\\{line}\n\nafter\n"
    spans = chunk_text(text + "\n# Next\n\nx\n", media_type=HTML)
    assert [span.heading_path for span in spans] in ([(), ("Next",)], [()])


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    text = page("<hr><p>title: x<hr><p>end")
    assert chunk_text(text, media_type=HTML)[0].start == 0


def test_a_deeply_nested_page_gives_its_words_without_recursion() -> None:
    assert page("<ul><li>" * 3_000 + "deep").strip().endswith("deep")
    assert page("<b>" * 5_000 + "deep") == "deep\n"


@pytest.mark.parametrize("source", ["", "<p>  </p>", "<script>x</script>", "<img src=x>"])
def test_a_page_that_shows_nothing_is_empty(source: str) -> None:
    assert refused(source.encode(), HTML).code == "empty_document"


def test_text_above_the_limit_is_refused_while_it_is_written() -> None:
    markdown = Markdown(10)
    markdown.say("eleven signs")
    with pytest.raises(Refused) as caught:
        markdown.paragraph()
    assert caught.value.code == "conversion_limit"


def test_cells_that_span_more_than_any_table_are_not_blown_up() -> None:
    row = "<tr>" + "<td colspan=999999 rowspan=999999>x" * 60 + "</tr>"
    assert refused(f"<table>{row * 90}</table>".encode(), HTML).code == "conversion_limit"


# --- Word -------------------------------------------------------------------------------------------------------------


def test_a_word_document_keeps_title_headings_lists_code_and_tables() -> None:
    body = (
        paragraph("Returns", style="T") + paragraph("Periods", style="H2") + paragraph("Within <!-- --> 30 days.")
        + paragraph("one", list_id=1) + paragraph("inner", list_id=1, level=1) + paragraph("two", list_id=1)
        + paragraph("first", list_id=2) + paragraph("ls", style="C") + paragraph("pwd", style="C")
        + table([["Country", "Days"], ["Spain", "14 | 15"]])
    )  # fmt: skip
    assert convert(docx(body), DOCX, MOST) == (
        "# Returns\n\n## Periods\n\nWithin 30 days.\n\n- one\n  - inner\n- two\n1. first\n\n```\nls\npwd\n```\n\n"
        "| Country | Days |\n|---|---|\n| Spain | 14 \\| 15 |\n"
    )


def test_words_in_controls_and_tracked_insertions_are_kept_and_deleted_ones_are_not() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = (
        f"<w:sdt><w:sdtContent>{paragraph('in a control')}</w:sdtContent></w:sdt>"
        f"<w:p><w:ins>{run.format('inserted')}</w:ins><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p>"
    )
    assert convert(docx(body), DOCX, MOST) == "in a control\n\ninserted\n"


def test_a_word_document_without_words_is_empty() -> None:
    assert refused(docx(paragraph("")), DOCX).code == "empty_document"


def test_a_damaged_archive_is_named_as_one() -> None:
    found = refused(docx(paragraph("x"))[:-60], DOCX)
    assert (found.code, "damaged" in found.detail) == ("unconvertible", True)


def test_a_word_document_that_unpacks_to_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = docx("", more={"word/document.xml": "<a>" + " " * 40_000_000})
    assert len(bomb) < 100_000
    assert refused(bomb, DOCX).code == "conversion_limit"


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(9))
    document = f'<?xml version="1.0"?><!DOCTYPE d [{laughs}]><d>&l8;</d>'
    found = refused(docx("", document=document), DOCX)
    assert (found.code, "document type" in found.detail) == ("unconvertible", True)


# --- PDF --------------------------------------------------------------------------------------------------------------


def test_lines_of_a_paragraph_are_joined_and_a_gap_begins_another() -> None:
    lines = [*prose([FULL, FULL, "end."], top=760), *prose([FULL, "short."], top=690)]
    assert convert(pdf([lines]), PDF, MOST) == f"{FULL} {FULL} end.\n\n{FULL} short.\n"


def test_lines_that_end_early_stay_lines() -> None:
    assert convert(pdf([prose(["Mei", "Store 7", FULL])]), PDF, MOST) == f"Mei\nStore 7\n{FULL}\n"


def test_larger_and_bold_lines_are_headings() -> None:
    inks = [
        Ink(50, 760, "Returns policy", 20), *prose([FULL, FULL], top=720),
        Ink(50, 680, "Periods", 11, "F2"), *prose([FULL, FULL], top=660),
    ]  # fmt: skip
    assert convert(pdf([inks]), PDF, MOST) == f"# Returns policy\n\n{FULL} {FULL}\n\n## Periods\n\n{FULL} {FULL}\n"


def test_columns_that_stand_under_each_other_are_a_table() -> None:
    rows = [("Country", "Days"), ("Spain", "14"), ("Portugal", "30 or more")]
    cells = [Ink(left, 700 - 16 * at, row[place]) for at, row in enumerate(rows) for place, left in ((0, 50), (1, 250))]
    text = convert(pdf([[*prose([FULL, FULL]), *cells]]), PDF, MOST)
    assert text.endswith("| Country | Days |\n|---|---|\n| Spain | 14 |\n| Portugal | 30 or more |\n")


def test_bullets_and_numbers_are_items() -> None:
    text = convert(pdf([prose(["\u2022 one", "\u2022 two", "1. first", FULL])]), PDF, MOST)
    assert text == f"- one\n- two\n1. first\n   {FULL}\n"


def test_page_numbers_go_and_a_repeated_head_is_kept_once() -> None:
    pages = [
        [Ink(50, 810, "Kwame & Mei Ltd", 8), *prose([f"{FULL} {at}." for _ in range(5)]), Ink(290, 20, f"Page {at}", 8)]
        for at in range(1, 6)
    ]
    text = convert(pdf(pages), PDF, MOST)
    assert text.count("Kwame & Mei Ltd") == 1
    assert "Page" not in text
    assert all(text.count(f"box {at}.") == 5 for at in range(1, 6))


def test_headings_at_the_top_of_every_page_are_not_taken_for_a_repeated_head() -> None:
    pages = [[Ink(50, 800, f"Section {at}", 18), *prose([f"{FULL}."] * 4)] for at in range(1, 6)]
    text = convert(pdf(pages), PDF, MOST)
    assert [f"# Section {at}" in text for at in range(1, 6)] == [True] * 5


def test_a_sentence_goes_on_over_the_end_of_a_page() -> None:
    text = convert(pdf([prose([FULL, "and the"]), prose(["receipt is there.", FULL])]), PDF, MOST)
    assert "and the\nreceipt is there." in text


def test_a_scan_is_told_apart_from_an_empty_file() -> None:
    assert "pictures of pages and no text" in refused(pdf([[], []], picture=True), PDF).detail
    assert "no text on its pages" in refused(pdf([[]]), PDF).detail
    assert refused(pdf([[]], picture=True), PDF).code == "empty_document"


def test_a_locked_or_damaged_pdf_says_so() -> None:
    assert "password" in refused(locked_pdf(), PDF).detail
    assert "damaged" in refused(b"%PDF-1.7\nnothing", PDF).detail


def test_a_text_whose_letters_are_unknown_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.pipeline.converting.pdf_lines._letter", lambda code: "\ue001")
    assert "can't be trusted" in refused(pdf([prose([FULL])]), PDF).detail


@pytest.mark.parametrize("kids", ["[2 0 R]", "[2 0 R 2 0 R]"])
def test_pages_that_contain_themselves_come_to_an_end(kids: str) -> None:
    looped = pdf([[]]).replace(b"[6 0 R]", kids.encode())
    assert refused(looped, PDF).code in ("empty_document", "unconvertible")
