"""Word documents to Markdown: mammoth reads the file (styles, lists, notes, tables) into HTML, `web_pages` goes on.

The archive is looked at before mammoth opens it: what it would unpack to, and that its XML declares no entities, which
Office never writes.
"""

import io
import zipfile

import mammoth

from ingestion.pipeline.converting.refusals import broken, empty, too_much
from ingestion.pipeline.converting.web_pages import page_to_markdown

# The XML of a document of a thousand pages; a bomb unpacks to a thousand times its size.
_MOST_XML_BYTES = 33_554_432
_MOST_PARTS = 5_000
_NOT_XML = ("word/media/", "word/fonts/", "word/embeddings/")
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
r[style-name='HTML Code'] => code
"""


def word_to_markdown(content: bytes, most: int) -> str:
    """The Markdown of a Word document. Raises Refused for a damaged, locked, oversized or empty one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check(archive)
    except zipfile.BadZipFile as error:
        raise broken(f"The Word document is damaged: {error}. Save it anew.") from error
    found = mammoth.convert_to_html(
        io.BytesIO(content), style_map=_STYLES, include_embedded_style_map=False, convert_image=_alternative_text
    )
    if not found.value.strip():
        raise empty("The Word document holds no text (perhaps only pictures): there is nothing to search or to cite.")
    # Titles live in the document's properties, which often belong to a template: only the body is read.
    return page_to_markdown(f"<body>{found.value}</body>", most)


def _alternative_text(image: mammoth.documents.Image) -> list[mammoth.html.Element]:
    return [mammoth.html.element("img", {"alt": image.alt_text}, [])] if image.alt_text else []


def _check(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if len(parts) > _MOST_PARTS:
        raise too_much(f"The Word document has {len(parts)} parts; more than {_MOST_PARTS} are not read.")
    xml = [part for part in parts if not part.filename.startswith(_NOT_XML)]
    size = sum(part.file_size for part in xml)
    if size > _MOST_XML_BYTES:
        raise too_much(
            f"The Word document unpacks to {size} bytes of XML; at most {_MOST_XML_BYTES} are read. Split it."
        )
    for part in xml:
        if part.flag_bits & 1:
            raise broken("The Word document is locked with a password. Save it without one.")
        with archive.open(part) as stream:
            # A declaration of entities stands in front of everything else.
            if b"<!DOCTYPE" in stream.read(4_096).upper():
                raise broken("The Word document's XML declares a document type, which no Office program writes.")
