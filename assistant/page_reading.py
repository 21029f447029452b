"""What the pages read: documents, versions, news and usage as rows for the templates. No HTTP, nothing is written."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from ingestion import standing
from ingestion.models import Document, DocumentVersion, Job, UsageDay
from ingestion.models.jobs import LIVE_STATES

NEWS_SHOWN = 30
# The chart: one group of two bars a day, in a drawing of 600 by 102 units.
WINDOW_DAYS = 30
DAY_WIDTH = 20
BAR_WIDTH = 8
TOP, BOTTOM = 1, 101
COUNTS = ("views", "citations", "ratings", "rating_sum", "resolved")

WORK = {
    "backoff": "waits before its next try",
    "provider_quota": "waits for the provider's quota",
    "provider_outage": "waits for the provider, which does not work now",
    "queued": "waits for its turn",
    "running": "is being worked on",
}
BASES = {"measured": "from the measured pace", "assumed": "assumed, no pace is measured yet"}


def published_count() -> int:
    """How many documents answers can be made from."""
    return Document.objects.filter(deleted_at=None, published__isnull=False).count()


def documents(query: str) -> QuerySet[Any]:
    """Documents whose title or slug holds the query, by title; `waiting_number` is a version on its way."""
    waiting = DocumentVersion.objects.filter(document=OuterRef("pk"), deleted_at=None, job__state__in=LIVE_STATES)
    found = Document.objects.filter(deleted_at=None).select_related("published__job__summary")
    if query:
        found = found.filter(Q(title__icontains=query) | Q(slug__icontains=query))
    newest = Subquery(waiting.order_by("-number").values("number")[:1])
    return found.annotate(waiting_number=newest).defer("published__text").order_by("title", "slug")


def document(slug: str) -> Document | None:
    """The document, unless it never existed or was deleted."""
    return Document.objects.filter(slug=slug, deleted_at=None).first()


def versions(of: Document) -> QuerySet[Any]:
    """The versions of a document, newest first, each with its `cost` in US dollars; their texts stay behind."""
    found = of.versions.filter(deleted_at=None).select_related("job__summary").defer("text")
    cost = Coalesce(Sum("job__provider_calls__cost_usd"), Value(Decimal(0)))
    return found.annotate(cost=cost).order_by("-number")


def news() -> QuerySet[DocumentVersion]:
    """The published versions, newest first."""
    found = DocumentVersion.objects.filter(published_of__isnull=False, published_of__deleted_at=None)
    newest = found.select_related("document", "job__summary").defer("text").order_by("-published_at", "-id")
    return newest[:NEWS_SHOWN]


@dataclass(frozen=True)
class Waiting:
    """A version on its way: what its job does, and how long it is expected to take, in words."""

    number: int
    job_id: UUID
    work: str
    foreseen: str


def waiting(of: Document) -> Waiting | None:
    """The newest version that is not yet published and still can be."""
    live = of.versions.filter(deleted_at=None, job__state__in=LIVE_STATES)
    found = live.select_related("job").defer("text").order_by("-number").first()
    if found is None:
        return None
    reason = standing.waits_for(found.job) or found.job.state
    return Waiting(found.number, found.job_id, WORK.get(reason, reason), _foreseen(found.job))


def failed(of: Document) -> DocumentVersion | None:
    """The newest version, when it came to nothing: its uploader should not have to look for the reason."""
    newest = of.versions.filter(deleted_at=None).select_related("job").defer("text").order_by("-number").first()
    return newest if newest is not None and newest.job.state in ("failed", "dead_letter", "expired") else None


def _foreseen(job: Job) -> str:
    expected = standing.foresee_live(job)
    if not expected.high_seconds:
        return ""
    low, wait, high = (_words(s) for s in (expected.low_seconds, expected.wait_seconds, expected.high_seconds))
    return f"Expected in about {wait} ({low} to {high}; {BASES.get(expected.basis, expected.basis)})."


def _words(seconds: float) -> str:
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 3_600 else f"{seconds / 3_600:.1f} h"


@dataclass(frozen=True)
class Bar:
    """One rectangle of the chart, in units of the drawing."""

    series: str
    x: int
    y: int
    height: int


@dataclass(frozen=True)
class Usage:
    """Totals of all time, and the days of the window that had a view or a citation."""

    totals: dict[str, int]
    days: list[dict[str, Any]]
    first: date
    last: date
    window: int = WINDOW_DAYS

    @property
    def rating_mean(self) -> float | None:
        return self.totals["rating_sum"] / self.totals["ratings"] if self.totals["ratings"] else None

    @property
    def most(self) -> int:
        """The highest bar."""
        return max((max(day["views"], day["citations"]) for day in self.days), default=0)

    @property
    def bars(self) -> list[Bar]:
        return [self._bar(day, series) for day in self.days for series in ("views", "citations") if day[series]]

    def _bar(self, day: dict[str, Any], series: str) -> Bar:
        # At least two units high: one view beside a thousand is still to be seen.
        height = max(2, round((BOTTOM - TOP) * day[series] / self.most))
        left = (day["date"] - self.first).days * DAY_WIDTH + (BAR_WIDTH + 1 if series == "citations" else 0)
        return Bar(series, left, BOTTOM - height, height)


def usage(of: Document, today: date) -> Usage:
    """What happened to the document, all its versions together; days are in UTC."""
    rows = UsageDay.objects.filter(document=of)
    totals = rows.aggregate(**{name: Coalesce(Sum(name), 0) for name in COUNTS})
    first = today - timedelta(days=WINDOW_DAYS - 1)
    by_day = rows.filter(date__range=(first, today)).values("date").order_by("date")
    days = by_day.annotate(views=Sum("views"), citations=Sum("citations"))
    return Usage(totals, [dict(day) for day in days if day["views"] or day["citations"]], first, today)
