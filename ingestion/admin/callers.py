"""Callers: rights, limits, and a new token in place of an old one. Tokens are stored as hashes and shown once."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from ingestion import callers
from ingestion.admin.rights import ByRight, note
from ingestion.models import Caller
from ingestion.models.callers import RIGHTS

LIMIT_MAX = 1_000_000
MEANWHILE = "This caller has got a new token since you opened the page: somebody else was faster. Nothing was changed."


class CallerForm(forms.ModelForm):
    rights = forms.MultipleChoiceField(
        choices=[(right, right) for right in RIGHTS], widget=forms.CheckboxSelectMultiple, required=False
    )
    uploads_per_minute = forms.IntegerField(
        min_value=1, max_value=LIMIT_MAX, required=False, help_text="Empty: UPLOADS_PER_MINUTE, as for everybody."
    )

    class Meta:
        model = Caller
        fields = ("rights", "uploads_per_minute", "is_active", "user")


@admin.register(Caller)
class CallerAdmin(ByRight, admin.ModelAdmin):
    """No caller is added here (`createcaller` does) and none deleted: jobs and events name theirs for good."""

    form = CallerForm
    list_display = ("name", "rights", "uploads_per_minute", "is_active", "user", "created_at", "rotated_at")
    list_filter = ("is_active",)
    list_select_related = ("user",)
    search_fields = ("name",)
    ordering = ("name",)
    show_facets = admin.ShowFacets.NEVER
    readonly_fields = ("name", "created_at", "rotated_at")
    fields = ("name", "rights", "uploads_per_minute", "is_active", "user", "created_at", "rotated_at")
    change_form_template = "admin/ingestion/caller/change_form.html"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_operate_permission(request)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.rotate)
        return [path("<int:pk>/rotate/", view, name="ingestion_caller_rotate"), *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Caller, form: Any, change: bool) -> None:
        """Only what the form shows: a token that is replaced at this moment stays replaced."""
        obj.save(update_fields=["rights", "uploads_per_minute", "is_active", "user"])

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            kwargs["queryset"] = get_user_model().objects.order_by("username")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def rotate(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Asks, or replaces the token and shows the new one in this answer alone: it is kept nowhere."""
        if not self.has_operate_permission(request):
            raise PermissionDenied
        caller = Caller.objects.filter(pk=pk).first()
        if caller is None:
            raise Http404
        token = ""
        if request.method == "POST":
            token = _rotate(caller, request.POST.get("seen", ""))
            if not token:
                self.message_user(request, MEANWHILE, messages.ERROR)
                return HttpResponseRedirect(reverse("admin:ingestion_caller_change", args=[pk]))
            note(request, Caller.objects.filter(pk=pk), "Token replaced.")
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "title": "Replace the token?",
            "caller": caller, "seen": _seen(caller), "token": token,
        }  # fmt: skip
        # The admin says no-store of each of its answers, so no browser keeps this one.
        return TemplateResponse(request, "admin/ingestion/caller/rotate.html", context)


def _seen(caller: Caller) -> str:
    """What the page was shown under; sent back, it tells whether somebody else was faster, or a reload."""
    return caller.rotated_at.isoformat() if caller.rotated_at else "never"


@transaction.atomic
def _rotate(caller: Caller, seen: str) -> str:
    """The new token; empty where another one was made since the page was shown."""
    present = Caller.objects.select_for_update(no_key=True).get(pk=caller.pk)
    return callers.rotate(present.name) if _seen(present) == seen else ""
