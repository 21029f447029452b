"""Small PDF and Word files, their bytes written by hand: what a test says is what stands in the file."""

import io
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class Ink(NamedTuple):
    """Words at a place of a page, in points from its lower left corner."""

    left: float
    bottom: float
    words: str
    size: float = 11.0
    font: str = "F1"


def pdf(pages: Sequence[Sequence[Ink]], *, picture: bool = False, trailer: str = "", extra: str = "") -> bytes:
    """A PDF of pages of A4; with `picture` each page also shows an image of one pixel."""
    fonts = "/F1 3 0 R /F2 4 0 R"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"
        "\nstream\nA\nendstream",
    ]
    kids = []
    for page in pages:
        show = "q 500 0 0 700 40 40 cm /P Do Q\n" if picture else ""
        show += "".join(
            f"BT /{ink.font} {ink.size} Tf {ink.left} {ink.bottom} Td ({_quoted(ink.words)}) Tj ET\n" for ink in page
        )
        number = len(objects) + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            f"/Resources << /Font << {fonts} >> /XObject << /P 5 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(show.encode('cp1252'))} >>\nstream\n{show}endstream")
        kids.append(f"{number} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _assembled([*objects, *([extra] if extra else [])], trailer)


def _quoted(words: str) -> str:
    return words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: Sequence[str], trailer: str) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252"))
    table = out.tell()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode())
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n".encode())
    return out.getvalue()


def locked_pdf() -> bytes:
    """A PDF that asks for a password."""
    key = "<" + "41" * 32 + ">"
    lock = f"<< /Filter /Standard /V 2 /R 3 /Length 128 /O {key} /U {key} /P -44 >>"
    return pdf([[Ink(50, 700, "Locked")]], extra=lock, trailer=f"/Encrypt 8 0 R /ID [{key} {key}]")


def prose(words: Sequence[str], *, left: float = 50, top: float = 760, leading: float = 14) -> list[Ink]:
    """Lines under each other."""
    return [Ink(left, top - number * leading, line) for number, line in enumerate(words)]


def docx(body: str, *, document: str | None = None, more: dict[str, str] | None = None) -> bytes:
    """A Word document with `body` as the XML inside its body element; `document` replaces the whole main part."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/></w:style>'
        for identity, name in (("H1", "heading 1"), ("H2", "heading 2"), ("T", "Title"), ("C", "HTML Preformatted"))
    )
    levels = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/></w:lvl>'
    lists = "".join(
        f'<w:abstractNum w:abstractNumId="{number}">{"".join(levels.format(level, kind) for level in range(3))}'
        f"</w:abstractNum>"
        for number, kind in ((1, "bullet"), (2, "decimal"))
    )
    numbers = "".join(f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>' for n in (1, 2))
    types = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{types}.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        f'<Relationship Id="n" Type="{_OFFICE}/numbering" Target="numbering.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{_WORD}">{lists}{numbers}</w:numbering>',
        "word/document.xml": document or f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        **(more or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def paragraph(words: str, *, style: str = "", list_id: int = 0, level: int = 0) -> str:
    """One paragraph's XML; `list_id` 1 is a list of bullets, 2 a numbered one."""
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if list_id:
        properties += f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{words}</w:t></w:r></w:p>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table's XML."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"
