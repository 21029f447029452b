"""Documents with their versions, and how the texts of two versions differ. Read-only: a new version is an upload."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path

from ingestion.admin.differences import compare
from ingestion.admin.lists import PAGE_ROWS, BoundedPaginator
from ingestion.admin.rights import ByRight, may
from ingestion.models import Document, DocumentVersion

VERSIONS_SHOWN = 200


@admin.register(Document)
class DocumentAdmin(ByRight, admin.ModelAdmin):
    # As over HTTP: every caller may read documents.
    right: ClassVar[str | None] = None
    list_display = ("slug", "title", "latest_number", "created_at", "deleted_at")
    list_filter = (("deleted_at", admin.EmptyFieldListFilter),)
    search_fields = ("slug", "title")
    ordering = ("slug",)
    list_per_page = PAGE_ROWS
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    exclude = ("published",)
    change_form_template = "admin/ingestion/document/change_form.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.difference)
        return [path("<int:pk>/difference/", view, name="ingestion_document_difference"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        found = self.get_object(request, object_id)
        versions = versions_of(found) if isinstance(found, Document) else []
        shown = {"versions": versions, "sees_jobs": may(request, "operate"), "versions_shown": VERSIONS_SHOWN}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    def difference(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The texts of the versions `before` and `after`, line by line."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        document = Document.objects.filter(pk=pk).first()
        if document is None:
            raise Http404
        before, after = _version(document, request.GET.get("before")), _version(document, request.GET.get("after"))
        missing = [one.number for one in (before, after) if one.text is None]
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "document": document,
            "title": f"{document.slug}: version {before.number} and version {after.number}",
            "before": before, "after": after, "missing": missing,
            "difference": None if missing else compare(before.text or "", after.text or ""),
        }  # fmt: skip
        return TemplateResponse(request, "admin/ingestion/document/difference.html", context)


def versions_of(document: Document) -> list[Any]:
    """The newest versions, with job, summary and cost; one query, without their texts."""
    found = DocumentVersion.objects.filter(document=document).select_related("job__summary").defer("text")
    return list(found.annotate(cost=Sum("job__provider_calls__cost_usd")).order_by("-number")[:VERSIONS_SHOWN])


def _version(document: Document, number: str | None) -> DocumentVersion:
    if not (number or "").isdecimal() or len(number or "") > 9:
        raise Http404
    found = DocumentVersion.objects.filter(document=document, number=int(number or 0)).first()
    if found is None:
        raise Http404
    return found
