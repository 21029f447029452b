"""Why an upload can't become text. Each error carries the stable code and the sentence that the caller is shown."""

from typing import ClassVar


class ReadingError(ValueError):
    """The content can't be read as a document; `code` is stable, `detail` is for people."""

    code: ClassVar[str] = "undecodable_text"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class UndecodableText(ReadingError):
    """The bytes are no text in any encoding that could be told with confidence."""

    code = "undecodable_text"


class EmptyDocument(ReadingError):
    """Nothing is left to search: no content, only blanks, or only front matter."""

    code = "empty_document"


class UnsupportedType(ReadingError):
    """The media type, or the file name that stands in for it, is not one that Larkfield reads."""

    code = "unsupported_type"


class Unconvertible(ReadingError):
    """The file is broken, locked or of another kind than it says: no text can be taken out of it."""

    code = "unconvertible"


class ConversionLimit(ReadingError):
    """Taking the text out would take more time, memory or room than one document may."""

    code = "conversion_limit"
