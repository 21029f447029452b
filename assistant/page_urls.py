"""Routes of the pages, of their news as a feed, and of what their scripts ask for."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path
from django.views.generic import RedirectView

from assistant import feed, page_calls, pages
from assistant.away import told_when_away

sign_in = LoginView.as_view(template_name="assistant/sign_in.html", redirect_authenticated_user=True)

urlpatterns = [
    path("", pages.ask, name="ask"),
    path("sign-in/", told_when_away(sign_in), name="sign-in"),
    path("sign-out/", told_when_away(LogoutView.as_view()), name="sign-out"),
    path("upload/", pages.upload, name="upload"),
    path("documents/", pages.documents, name="documents"),
    path("documents/<slug:slug>/", pages.document, name="document"),
    path("news/", pages.news, name="news"),
    path("news.atom", feed.NewsFeed.as_view(), name="news-feed"),
    path("operations", RedirectView.as_view(pattern_name="operations")),
    path("operations/", pages.operations, name="operations"),
    path("operations/numbers", page_calls.OperationsNumbers.as_view(), name="operations-numbers"),
    path("operations/history", page_calls.OperationsHistory.as_view(), name="operations-history"),
    path("passages", page_calls.Passages.as_view(), name="passages"),
    path("feedback", page_calls.Feedback.as_view(), name="feedback"),
]
