"""PDF to Markdown: PDFium reads the file, `pdf_lines` its pages, `pdf_blocks` makes blocks of them."""

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingestion.pipeline.converting.markdown import Markdown
from ingestion.pipeline.converting.pdf_blocks import write_pages
from ingestion.pipeline.converting.pdf_lines import Line, lines_of
from ingestion.pipeline.converting.refusals import Refused, broken, empty, too_much

_MOST_PAGES = 2_000
# A text with more of these than one character in ten is none: its fonts don't say which letters they draw.
_UNKNOWN_SHARE = 0.1


def pdf_to_markdown(content: bytes, most: int) -> str:
    """The Markdown of a PDF. Raises Refused for one that is damaged, locked, too long, scanned or without words."""
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        raise _unopened() from error
    if len(document) > _MOST_PAGES:
        raise too_much(f"The PDF has {len(document)} pages; at most {_MOST_PAGES} are read. Split it.")
    pages: list[list[Line]] = []
    has_pictures = False
    left = most
    for number in range(len(document)):
        page = _page(document, number)
        lines = lines_of(page)
        has_pictures = has_pictures or (not lines and _shows_pictures(page))
        page.close()
        left -= sum(len(line.words) for line in lines)
        if left < 0:
            raise too_much("The PDF holds more text than one document may. Split it.")
        pages.append(lines)
    _check_words("".join(line.words for page in pages for line in page), has_pictures=has_pictures)
    markdown = Markdown(most)
    write_pages(pages, markdown)
    return markdown.text()


def _page(document: pdfium.PdfDocument, number: int) -> pdfium.PdfPage:
    try:
        return document[number]
    except pdfium.PdfiumError as error:
        raise broken(f"Page {number + 1} of the PDF is damaged. Save or print the document anew.") from error


def _unopened() -> Refused:
    if raw.FPDF_GetLastError() in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
        return broken("The PDF is locked with a password. Save it without one.")
    return broken("The PDF is damaged and can't be opened. Save or print it anew.")


def _shows_pictures(page: pdfium.PdfPage) -> bool:
    return any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4))


def _check_words(words: str, *, has_pictures: bool) -> None:
    if not words.strip():
        if has_pictures:
            raise empty(
                "This PDF holds pictures of pages and no text: nothing in it can be searched or cited. "
                "Run text recognition (OCR) on it, or upload the document that it was made from."
            )
        raise empty("This PDF has no text on its pages: there is nothing to search or to cite.")
    unknown = sum(1 for letter in words if letter == "\ufffd" or "\ue000" <= letter <= "\uf8ff" or letter < " ")
    if unknown > len(words) * _UNKNOWN_SHARE:
        raise broken(
            "The PDF's fonts do not say which letters they draw, so its text can't be trusted. "
            "Save it anew from its source, with embedded Unicode fonts."
        )
