"""The ledger of provider calls, to look at."""

from django.contrib import admin

from ingestion.admin.lists import PAGE_ROWS, BoundedPaginator, Hinted
from ingestion.admin.rights import ByRight
from ingestion.models import ProviderCall


@admin.register(ProviderCall)
class ProviderCallAdmin(ByRight, Hinted):
    list_display = ("client_request_id", "lane", "purpose", "outcome", "status", "cost_usd", "started_at")
    search_fields = ("client_request_id__exact",)
    search_hint = "the whole id that was sent as X-Client-Request-Id"
    ordering = ("-started_at",)
    list_per_page = PAGE_ROWS
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
