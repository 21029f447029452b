"""GET /v1/documents/{slug}/usage: what events have said about a document, by day."""

from typing import Any

from django.db.models import Sum
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion.events.effects import COLUMNS
from ingestion.models import Document, UsageDay
from ingestion.problems import Problem
from ingestion.views.schema import described, path
from ingestion.views.schema.documents import DocumentUsageSerializer
from ingestion.views.schema.pieces import SLUG


def usage_of(document: Document) -> dict[str, Any]:
    """Totals and days (UTC, ascending) over all versions of the document."""
    sums = {column: Sum(column) for column in COLUMNS}
    # A name of its own for each sum: a plain one would hide the column from the next.
    rows = UsageDay.objects.filter(document=document).values_list("date").annotate(*sums.values()).order_by("date")
    days = [{"date": row[0].isoformat(), **dict(zip(COLUMNS, row[1:], strict=True))} for row in rows]
    totals = {column: sum(day[column] for day in days) for column in COLUMNS}
    return {"totals": totals, "days": days}


class DocumentUsage(APIView):
    @described(
        "read_usage", {200: DocumentUsageSerializer}, "not_found", parameters=[path("slug", SLUG, "the document")]
    )
    def get(self, request: Request, slug: str) -> Response:
        document = Document.objects.filter(slug=slug, deleted_at=None).first() if "\x00" not in slug else None
        if document is None:
            raise Problem("not_found", f"There is no document '{slug[:100]}'.")
        return Response(usage_of(document))
