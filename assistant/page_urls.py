"""Routes of the pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from assistant import pages

sign_in = LoginView.as_view(template_name="assistant/sign_in.html", redirect_authenticated_user=True)

urlpatterns = [
    path("", pages.ask, name="ask"),
    path("sign-in/", sign_in, name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("upload/", pages.upload, name="upload"),
    path("documents/", pages.documents, name="documents"),
    path("documents/<slug:slug>/", pages.document, name="document"),
    path("news/", pages.news, name="news"),
]
