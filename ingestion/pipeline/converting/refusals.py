"""Why a file gives no text, as its converter says it; the words reach the policy team."""


class Refused(Exception):
    """`code` is one of empty_document, unconvertible, conversion_limit."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


def empty(detail: str) -> Refused:
    return Refused("empty_document", detail)


def broken(detail: str) -> Refused:
    return Refused("unconvertible", detail)


def too_much(detail: str) -> Refused:
    return Refused("conversion_limit", detail)
