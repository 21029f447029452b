"""How the admin's long lists stay quick: a count that ends, filters that read few rows, no query for each row."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.functional import cached_property

from ingestion import jobs
from ingestion.models.jobs import LIVE_STATES, TERMINAL_STATES
from ingestion.queue.storable import storable

# Nobody turns so many pages; counting a million rows for each look would cost more than the look.
COUNT_MAX = 10_000
PAGE_ROWS = 100
# Error codes are those of so many dead letters, and of what failed among so many of the latest jobs of a queue.
ERRORS_READ = 2_000
ERROR_CODES = """
SELECT DISTINCT error_code FROM (
    (SELECT error_code FROM ingestion_job WHERE state = 'dead_letter' LIMIT %(most)s)
    UNION ALL
    SELECT latest.error_code FROM unnest(%(queues)s::text[]) AS known(queue) CROSS JOIN LATERAL (
        SELECT error_code, state FROM ingestion_job
        WHERE queue = known.queue AND finished_at IS NOT NULL
        ORDER BY finished_at DESC
        LIMIT %(most)s
    ) AS latest
    WHERE latest.state IN ('failed', 'cancelled', 'expired')
) AS found
WHERE error_code <> ''
ORDER BY error_code
"""


class BoundedPaginator(Paginator):
    """Counts no further than one past COUNT_MAX: the last pages of a longer list are not offered."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: COUNT_MAX + 1].count())


class Hinted(ModelAdmin):
    """Says above the list what its search looks for: Django's own help text leaves the field without a seen label."""

    search_hint: ClassVar[str]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        title = f"{str(self.opts.verbose_name_plural).capitalize()}, searched by {self.search_hint}"
        return super().changelist_view(request, {**(extra_context or {}), "title": title})


class Choice(admin.SimpleListFilter):
    """One of a few values, under the name that Django's own filter of the field would have."""

    path: ClassVar[str]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        # A NUL in the address would break the statement; it names nothing that could be found.
        return queryset.filter(**{self.path: storable(self.value() or "")}) if self.value() else queryset


class StateFilter(Choice):
    title, parameter_name, path = "state", "state__exact", "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Sequence[tuple[str, str]]:
        return [(state, state.replace("_", " ")) for state in (*LIVE_STATES, *TERMINAL_STATES)]


class QueueFilter(Choice):
    title, parameter_name, path = "queue", "queue__exact", "queue"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Sequence[tuple[str, str]]:
        return [(name, name) for name in jobs.QUEUES]


class KindFilter(Choice):
    title, parameter_name, path = "kind", "kind__exact", "kind"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Sequence[tuple[str, str]]:
        return [(name, name) for name in jobs.KINDS]


class ErrorFilter(Choice):
    title, parameter_name, path = "error", "error_code__exact", "error_code"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Sequence[tuple[str, str]]:
        return [(code, code) for code in error_codes()]


class AgeFilter(admin.SimpleListFilter):
    """By when it was accepted."""

    title, parameter_name, path = "age", "age", "queued_at"
    spans: ClassVar[dict[str, tuple[str, timedelta | None, timedelta | None]]] = {
        "hour": ("at most an hour", None, timedelta(hours=1)),
        "day": ("at most a day", None, timedelta(days=1)),
        "week": ("at most a week", None, timedelta(days=7)),
        "over_hour": ("more than an hour", timedelta(hours=1), None),
        "over_day": ("more than a day", timedelta(days=1), None),
        "over_week": ("more than a week", timedelta(days=7), None),
    }

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Sequence[tuple[str, str]]:
        return [(key, words) for key, (words, _, _) in self.spans.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.value() not in self.spans:
            return queryset
        _, least, most = self.spans[self.value() or ""]
        if least is not None:
            queryset = queryset.filter(**{f"{self.path}__lt": Now() - least})
        return queryset if most is None else queryset.filter(**{f"{self.path}__gte": Now() - most})


class EventStateFilter(StateFilter):
    path = "job__state"


class EventErrorFilter(ErrorFilter):
    path = "job__error_code"


class EventAgeFilter(AgeFilter):
    path = "received_at"


def error_codes() -> list[str]:
    """The codes of dead letters, and of what failed among the latest jobs, in order; read by indexes alone."""
    with connection.cursor() as cursor:
        cursor.execute(ERROR_CODES, {"queues": list(jobs.QUEUES), "most": ERRORS_READ})
        return [code for (code,) in cursor.fetchall()]
