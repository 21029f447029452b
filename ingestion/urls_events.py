"""The routes of events below /v1/."""

from django.urls import path

from ingestion.views.events import EventBatch, EventDetail, EventLedger, EventList
from ingestion.views.quick_events import quick
from ingestion.views.usage import DocumentUsage

urlpatterns = [
    path("events", quick(EventList.as_view())),
    path("events/batch", EventBatch.as_view()),
    path("events/ledger", EventLedger.as_view()),
    path("events/<str:producer>/<str:event_id>", EventDetail.as_view()),
    path("documents/<str:slug>/usage", DocumentUsage.as_view()),
]
