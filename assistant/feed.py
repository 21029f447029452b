"""News as an Atom feed (RFC 4287): the newest published versions with their summaries, for whoever has a caller."""

import re
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, cast

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape, linebreaks
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from assistant import page_reading
from ingestion.models import DocumentVersion

# Django's class takes type parameters in the stubs only, not when the module runs.
if TYPE_CHECKING:
    NewsOfVersions = Feed[DocumentVersion, None]
else:
    NewsOfVersions = Feed

# What XML 1.0 can't hold, however it is escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def writable(text: str) -> str:
    """The text without the characters that no XML document may hold."""
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class News(NewsOfVersions):
    """An entry is named by its version's job, so that it stays the same under every address and title."""

    feed_type = Atom1Feed
    title = "Larkfield: news of the policies"
    subtitle = "What was published last, with summaries."
    author_name = "Larkfield"

    def link(self) -> str:
        return reverse("news")

    def items(self) -> list[DocumentVersion]:
        return list(page_reading.news())

    # Atom's titles are plain text here: escaping is the XML writer's work alone.
    def item_title(self, item: DocumentVersion) -> str:
        return writable(f"{item.title} (version {item.number})")

    def item_description(self, item: DocumentVersion) -> str:
        """The summary as HTML, which the entry says it is: its own marks are text."""
        summary = getattr(item.job, "summary", None)
        return linebreaks(escape(writable(summary.text))) if summary else ""

    def item_link(self, item: DocumentVersion) -> str:
        return reverse("document", args=[item.document.slug])

    def item_guid(self, item: DocumentVersion) -> str:
        return uuid.UUID(str(item.job_id)).urn

    def item_pubdate(self, item: DocumentVersion) -> datetime:
        return cast(datetime, item.published_at)

    item_updateddate = item_pubdate


_news = News()


@extend_schema(exclude=True)
class NewsFeed(APIView):
    """A reader without a session sends a token; it is answered 401, as a program understands it, not a sign-in page."""

    def get(self, request: Request) -> HttpResponseBase:
        django_request: HttpRequest = request._request
        answer = _news(django_request)
        answer.headers["Cache-Control"] = "private, no-cache"
        return answer
