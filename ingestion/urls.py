"""The routes of the API below /v1/ that write or tell of what was written."""

from django.urls import path

from ingestion.views.documents import DocumentDetail, DocumentList, News, VersionDetail, VersionFile, VersionText
from ingestion.views.jobs import JobCancel, JobDetail, JobRetry
from ingestion.views.queue import QueueView
from ingestion.views.uploads import VersionList

urlpatterns = [
    path("documents", DocumentList.as_view()),
    path("documents/<str:slug>", DocumentDetail.as_view()),
    path("documents/<str:slug>/versions", VersionList.as_view()),
    path("documents/<str:slug>/versions/<int:number>", VersionDetail.as_view()),
    path("documents/<str:slug>/versions/<int:number>/text", VersionText.as_view()),
    path("documents/<str:slug>/versions/<int:number>/file", VersionFile.as_view()),
    path("news", News.as_view()),
    path("jobs/<uuid:job_id>", JobDetail.as_view()),
    path("jobs/<uuid:job_id>/cancel", JobCancel.as_view()),
    path("jobs/<uuid:job_id>/retry", JobRetry.as_view()),
    path("queue", QueueView.as_view()),
]
