"""Which form an answer takes: what the Accept header asks for, or else what the route has."""

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class ForgivingNegotiation(DefaultContentNegotiation):
    """A header that names nothing of ours is passed over (RFC 9110, 12.5.1), never a reason to refuse.

    Texts and files are sent as they are, and a refused upload must be told why in a problem document, whatever the
    caller said of its answers.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        try:
            chosen: tuple[Any, Any] = super().select_renderer(request, renderers, format_suffix)
        except NotAcceptable:
            own = next(iter(renderers))
            return own, str(own.media_type)
        return chosen
