"""Jobs: dead letters and all others, each with its page; retried and cancelled, never edited."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse

from ingestion.admin import actions, plans
from ingestion.admin.job_page import page_of
from ingestion.admin.lists import (
    PAGE_ROWS,
    AgeFilter,
    BoundedPaginator,
    ErrorFilter,
    Hinted,
    KindFilter,
    QueueFilter,
    StateFilter,
)
from ingestion.admin.rights import ByRight
from ingestion.models import DocumentVersion, EventRecord, Job


class JobList(ChangeList):
    """Joins what the rows of a page are about, and of none that is only counted."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # Named columns instead of related rows: a version's text may have megabytes.
        rows: Any = self.result_list
        self.result_list = rows.annotate(
            slug=F("version__document__slug"), number=F("version__number"),
            producer=F("event__producer"), event_name=F("event__event_id"),
        )  # fmt: skip


@admin.register(Job)
class JobAdmin(ByRight, Hinted):
    list_display = ("id", "queue", "kind", "subject", "state", "attempt", "error", "caller", "queued_at", "finished_at")
    list_filter = (StateFilter, QueueFilter, KindFilter, ErrorFilter, AgeFilter)
    list_select_related = ("caller",)
    list_per_page = list_max_show_all = PAGE_ROWS
    search_fields = ("id",)
    search_hint = "the id of a job, a request or an event, or the slug of a document"
    ordering = ("-sequence",)
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = ("retry", "cancel")
    change_form_template = "admin/ingestion/job/change_form.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return JobList

    @admin.display(description="subject")
    def subject(self, job: Any) -> str:
        if job.slug:
            return f"{job.slug} version {job.number}"
        return f"{job.producer}/{job.event_name}" if job.event_name else "-"

    @admin.display(description="error", ordering="error_code")
    def error(self, job: Job) -> str:
        return job.error_code or "-"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Job], search_term: str
    ) -> tuple[QuerySet[Job], bool]:
        """Exact names only: a part of a text would read every row."""
        words = search_term.strip()
        if not words:
            return queryset, False
        try:
            return queryset.filter(id=UUID(words)), False
        except ValueError:
            versions = DocumentVersion.objects.filter(document__slug=words).values("job_id")
            events = EventRecord.objects.filter(event_id=words).values("job_id")
            return queryset.filter(Q(request_id=words) | Q(id__in=versions) | Q(id__in=events)), False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        found = self.get_object(request, object_id)
        page = page_of(found) if found is not None and self.has_view_permission(request, found) else None
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "page": page})

    @admin.action(description="Retry the selected dead letters and failed jobs…", permissions=["operate"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        return actions.retry(self, request, self._chosen(request, queryset))

    @admin.action(description="Cancel the selected queued jobs…", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        return actions.cancel(self, request, self._chosen(request, queryset))

    def _chosen(self, request: HttpRequest, queryset: QuerySet[Job]) -> list[UUID]:
        """The oldest of those chosen, as many as one action takes."""
        oldest = queryset.order_by("sequence").values_list("id", flat=True)
        return actions.chosen_ids(request, lambda: list(oldest[: plans.CHOSEN_MAX]))
