"""Events and the quarantine: each with its error; a quarantined one gets another payload, alone or with others."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from ingestion import repairing
from ingestion.admin import plans, repairs
from ingestion.admin.lists import (
    PAGE_ROWS,
    BoundedPaginator,
    Choice,
    EventAgeFilter,
    EventErrorFilter,
    EventStateFilter,
    Hinted,
)
from ingestion.admin.rights import ByRight, note
from ingestion.events.types import TYPES
from ingestion.models import EventRecord
from ingestion.queue.controlling import QueueFull
from ingestion.reviving import NotRevivable

FULL = "The queue is full or draining; repair it when places are free. Nothing was changed."
MEANWHILE = "This event is {state} now: somebody else has repaired or retried it meanwhile. Nothing was changed."
_CHOSEN = re.compile(r"\d{1,18}:\d{1,18}")


class RepairForm(forms.ModelForm):
    """The one thing of an event that a person may change, and only while it is quarantined."""

    # What the payload was read under: somebody else's repair must not be overwritten unseen.
    generation = forms.IntegerField(widget=forms.HiddenInput)

    payload = repairs.PayloadField(
        widget=forms.Textarea(attrs={"rows": 12, "cols": 80}),
        help_text="Saving queues the event again at once, under its own identity and a new generation. It is applied "
        "once, out of its turn; if it can't be applied, it comes back here.",
    )

    class Meta:
        model = EventRecord
        fields = ("payload",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["generation"].initial = self.instance.job.generation if self.instance.pk else 0

    def clean_payload(self) -> dict[str, Any]:
        return repairs.checked_object(self.cleaned_data["payload"])


class TypeFilter(Choice):
    """Django's own would read every event for the types that there are."""

    title, parameter_name, path = "type", "type__exact", "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in TYPES]


@admin.register(EventRecord)
class EventAdmin(ByRight, Hinted):
    form = RepairForm
    list_display = ("event_id", "producer", "type", "state", "error", "received_at")
    list_filter = (EventStateFilter, TypeFilter, EventErrorFilter, EventAgeFilter)
    list_select_related = ("job",)
    list_per_page = PAGE_ROWS
    search_fields = ("event_id",)
    search_hint = "an event's id or a producer's name, whole"
    ordering = ("-pk",)
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = ("repair",)
    readonly_fields = (
        "producer", "event_id", "type", "partition", "occurred_at", "received_at", "state", "error", "job_page",
    )  # fmt: skip
    fields = (*readonly_fields, "payload", "generation")

    def get_fields(self, request: HttpRequest, obj: EventRecord | None = None) -> Any:
        return self.fields if self.has_change_permission(request, obj) else self.fields[:-1]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_open = obj is None or obj.job.state in plans.RETRIED_STATES
        return is_open and self.has_operate_permission(request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[EventRecord], search_term: str
    ) -> tuple[QuerySet[EventRecord], bool]:
        """Whole names only: a part of a text would read every row."""
        words = search_term.strip()
        if not words:
            return queryset, False
        return queryset.filter(event_id=words) | queryset.filter(producer=words), False

    @admin.display(ordering="job__state")
    def state(self, event: EventRecord) -> str:
        return "quarantined" if event.job.state in plans.RETRIED_STATES else event.job.state

    @admin.display(description="error")
    def error(self, event: EventRecord) -> str:
        return f"{event.job.error_code} {event.job.error_detail}".strip() or "-"

    @admin.display(description="job")
    def job_page(self, event: EventRecord) -> str:
        address = reverse("admin:ingestion_job_change", args=[event.job_id])
        return format_html('<a href="{}">{}</a>: provider calls, history, retry', address, event.job_id)

    @admin.action(description="Repair the payloads of the selected quarantined events…", permissions=["operate"])
    def repair(self, request: HttpRequest, queryset: QuerySet[EventRecord]) -> HttpResponse | None:
        listed = [one for one in request.POST.get("chosen", "").split(",") if _CHOSEN.fullmatch(one)]
        if not listed:
            oldest = queryset.order_by("pk").values_list("pk", "job__generation")[: plans.CHOSEN_MAX]
            listed = [f"{key}:{generation}" for key, generation in oldest]
        return repairs.repair(self, request, listed[: plans.CHOSEN_MAX])

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        found = self.get_object(request, object_id) if request.method == "POST" and object_id else None
        # A form that was open while somebody else repaired: told in words instead of a bare 403.
        if found and self.has_operate_permission(request) and not self.has_change_permission(request, found):
            self.message_user(request, MEANWHILE.format(state=found.job.state), messages.ERROR)
            return HttpResponseRedirect(request.path)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def save_model(self, request: HttpRequest, obj: EventRecord, form: Any, change: bool) -> None:
        """Saving is repairing: the new payload and the retry commit together."""
        try:
            repairing.repair(obj, obj.payload, seen_generation=form.cleaned_data["generation"])
        except NotRevivable as error:
            self.message_user(request, f"{error} Nothing was changed.", messages.ERROR)
        except QueueFull:
            self.message_user(request, FULL, messages.ERROR)
        else:
            note(request, EventRecord.objects.filter(pk=obj.pk), "Payload repaired.")
            self.message_user(request, "The payload is changed and the event is queued again under its own identity.")

    def log_change(self, request: HttpRequest, obj: EventRecord, message: Any) -> Any:
        """Noted where it happens: a repair that was refused changed nothing."""

    def response_change(self, request: HttpRequest, obj: EventRecord) -> HttpResponse:
        """Back to the event, which says what it is now; Django's own message would praise a refused repair too."""
        return HttpResponseRedirect(request.path)
