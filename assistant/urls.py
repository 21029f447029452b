"""Routes of the assistant's API."""

from django.urls import path

from assistant import views

urlpatterns = [
    path("v1/search", views.SearchView.as_view(), name="search"),
    path("v1/answers", views.AnswersView.as_view(), name="answers"),
]
