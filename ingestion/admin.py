"""Django's admin over the tables: read-only, but for the few changes that can break no rule.

Jobs are retried and cancelled by the same functions as over HTTP; a quarantined event gets another payload through
`repairing`. Callers keep their tokens as hashes; `createcaller --rotate` makes a new one.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from ingestion import reviving
from ingestion.models import Caller, Document, DocumentVersion, EventRecord, Job, JobOutcome, ProviderCall
from ingestion.models.callers import RIGHTS
from ingestion.queue import controlling
from ingestion.queue.controlling import QueueFull
from ingestion.repairing import repair
from ingestion.reviving import NotRevivable

FULL = "The queue is full; try again when places are free."


class ReadOnly:
    """Nothing is added, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class OutcomeInline(ReadOnly, admin.TabularInline):
    model = JobOutcome
    fields = ("generation", "attempt", "outcome", "detail", "worker", "at")
    ordering = ("generation",)
    extra = 0


class CallInline(ReadOnly, admin.TabularInline):
    model = ProviderCall
    fields = ("client_request_id", "step", "inputs", "outcome", "status", "prompt_tokens", "cost_usd", "started_at")
    ordering = ("started_at",)
    extra = 0


@admin.register(Job)
class JobAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("id", "queue", "kind", "state", "attempt", "error_code", "caller", "queued_at", "finished_at")
    list_filter = ("queue", "kind", "state", "error_code", "queued_at")
    list_select_related = ("caller",)
    search_fields = ("id", "error_detail", "request_id")
    ordering = ("-sequence",)
    show_full_result_count = False
    inlines = (OutcomeInline, CallInline)
    actions = ("retry", "cancel")

    # Actions need the right to see a list; what they change is guarded by the functions that they call.
    @admin.action(description="Retry the selected dead letters and failed jobs", permissions=["view"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        done = 0
        for job_id in queryset.order_by("finished_at").values_list("id", flat=True):
            try:
                reviving.revive(job_id)
                done += 1
            except NotRevivable as error:
                self.message_user(request, str(error), messages.WARNING)
            except QueueFull:
                self.message_user(request, FULL, messages.ERROR)
                break
        self.message_user(request, f"{done} queued again.")

    @admin.action(description="Cancel the selected queued jobs", permissions=["view"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        chosen = list(queryset.values_list("id", flat=True))
        done = controlling.cancel(chosen)
        self.message_user(request, f"{len(done)} cancelled, {len(chosen) - len(done)} were no longer queued.")


class RepairForm(forms.ModelForm):
    """The one thing of an event that a person may change, and only while it is quarantined."""

    class Meta:
        model = EventRecord
        fields = ("payload",)

    def clean_payload(self) -> dict[str, Any]:
        payload = self.cleaned_data["payload"]
        if not isinstance(payload, dict):
            raise ValidationError("The payload is a JSON object.")
        return payload


@admin.register(EventRecord)
class EventAdmin(admin.ModelAdmin):
    form = RepairForm
    list_display = ("producer", "event_id", "type", "state", "error", "received_at")
    list_filter = ("type", "job__state", "job__error_code", "received_at")
    list_select_related = ("job",)
    search_fields = ("producer", "event_id")
    ordering = ("-received_at",)
    show_full_result_count = False
    fields = ("producer", "event_id", "type", "partition", "occurred_at", "received_at", "state", "error", "payload")
    readonly_fields = ("producer", "event_id", "type", "partition", "occurred_at", "received_at", "state", "error")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: EventRecord | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: EventRecord | None = None) -> bool:
        is_open = obj is None or obj.job.state in ("dead_letter", "failed")
        return is_open and super().has_change_permission(request, obj)

    @admin.display(ordering="job__state")
    def state(self, event: EventRecord) -> str:
        return event.job.state

    @admin.display(description="error")
    def error(self, event: EventRecord) -> str:
        return f"{event.job.error_code} {event.job.error_detail}".strip()

    def save_model(self, request: HttpRequest, obj: EventRecord, form: Any, change: bool) -> None:
        """Saving is repairing: the new payload and the retry commit together."""
        try:
            repair(obj, obj.payload)
            self.message_user(request, "The payload is changed and the event is queued again under its own identity.")
        except NotRevivable as error:
            self.message_user(request, f"{error} Nothing was changed.", messages.ERROR)
        except QueueFull:
            self.message_user(request, f"{FULL} Nothing was changed.", messages.ERROR)


class CallerForm(forms.ModelForm):
    rights = forms.MultipleChoiceField(
        choices=[(right, right) for right in RIGHTS], widget=forms.CheckboxSelectMultiple, required=False
    )

    class Meta:
        model = Caller
        fields = ("rights", "uploads_per_minute", "is_active", "user")


@admin.register(Caller)
class CallerAdmin(admin.ModelAdmin):
    form = CallerForm
    list_display = ("name", "rights", "uploads_per_minute", "is_active", "user", "created_at", "rotated_at")
    readonly_fields = ("name", "created_at", "rotated_at")
    fields = ("name", "rights", "uploads_per_minute", "is_active", "user", "created_at", "rotated_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        # A token is shown once, by `manage.py createcaller`, and never by a page.
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Caller | None = None) -> bool:
        # Jobs and events name their caller for good; `is_active` shuts one out.
        return False


class VersionInline(ReadOnly, admin.TabularInline):
    model = DocumentVersion
    fk_name = "document"
    fields = ("number", "title", "bytes", "chunk_count", "created_at", "published_at", "superseded_at")
    ordering = ("-number",)
    extra = 0


@admin.register(Document)
class DocumentAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("slug", "title", "latest_number", "created_at", "deleted_at")
    search_fields = ("slug", "title")
    ordering = ("slug",)
    exclude = ("published",)
    inlines = (VersionInline,)


@admin.register(ProviderCall)
class ProviderCallAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("client_request_id", "lane", "purpose", "outcome", "status", "cost_usd", "started_at")
    list_filter = ("lane", "purpose", "outcome", "started_at")
    search_fields = ("client_request_id",)
    ordering = ("-started_at",)
    show_full_result_count = False
