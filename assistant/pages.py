"""The pages: HTTP in, one reading, a template out. What changes something goes through the API, from their scripts."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from assistant import page_reading
from assistant.away import told_when_away
from ingestion import jobs
from ingestion.models import Caller
from ingestion.queue.storable import storable

PAGE_SIZE = 50
QUERY_MAX = 200
TIED_TO_NONE = "Your account is tied to no caller, so it has no rights here; an operator can tie it to one."
MAY_NOT_UPLOAD = "Your account lacks the right to upload; an operator can grant it."
MAY_NOT_OPERATE = "Your account lacks the right to operate; an operator can grant it."

Arguments = ParamSpec("Arguments")
PageView = Callable[Concatenate[HttpRequest, Caller, Arguments], HttpResponse]


def for_callers(view: PageView[Arguments]) -> Callable[Concatenate[HttpRequest, Arguments], HttpResponse]:
    """The view is given the caller of the person who is signed in; others sign in first or are told why not.

    Nothing of a page is kept by the browser, so that "back" after signing out shows none.
    """

    @wraps(view)
    def with_caller(request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        caller = Caller.objects.filter(user=cast(User, request.user), is_active=True).first()
        if caller is None:
            return render(request, "403.html", {"reason": TIED_TO_NONE}, status=403)
        return view(request, caller, *args, **kwargs)

    return told_when_away(require_safe(never_cache(login_required(with_caller))))


@for_callers
def ask(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The question field; the answer comes from the API."""
    return _page(request, caller, "ask", published_count=page_reading.published_count())


@for_callers
def upload(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The file chooser; files go to the API."""
    if not caller.can("upload"):
        return _page(request, caller, "403", reason=MAY_NOT_UPLOAD)
    return _page(request, caller, "upload", most_bytes=settings.UPLOAD_MAX_BYTES)


@for_callers
def documents(request: HttpRequest, caller: Caller) -> HttpResponse:
    """A page of the documents that match `q`."""
    query = storable(request.GET.get("q", "")).strip()[:QUERY_MAX]
    page = _paged(request, page_reading.documents(query))
    return _page(request, caller, "documents", page=page, q=query)


@for_callers
def document(request: HttpRequest, caller: Caller, slug: str) -> HttpResponse:
    """One document: what is in force, what waits, how it is used, and its history."""
    found = page_reading.document(slug)
    if found is None:
        return _page(request, caller, "404")
    usage = page_reading.usage(found, timezone.now().date())
    versions = page_reading.versions(found)
    return _page(
        request,
        caller,
        "document",
        document=found,
        published=versions.filter(pk=found.published_id).first(),
        waiting=page_reading.waiting(found),
        failed=page_reading.failed(found),
        usage=usage,
        page=_paged(request, versions),
    )


@for_callers
def news(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The newest published versions with their summaries."""
    return _page(request, caller, "news", versions=page_reading.news())


@for_callers
def operations(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The frame of the operations page; its numbers come to it every other second."""
    if not caller.can("operate"):
        return _page(request, caller, "403", reason=MAY_NOT_OPERATE)
    return _page(request, caller, "operations", queues=jobs.QUEUES)


def _page(request: HttpRequest, caller: Caller, name: str, **context: Any) -> HttpResponse:
    """The named template with what the masthead needs; a name that is a status is answered with that status."""
    rights = {f"can_{right}": caller.can(right) for right in ("ask", "upload", "operate")}
    shown = {"caller": caller, **rights, **context}
    shown["section"] = "documents" if name == "document" else name
    if name.isdigit():
        return render(request, f"{name}.html", shown, status=int(name))
    return render(request, f"assistant/{name}.html", shown)


def _paged(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The page that the address asks for; a number that is none, or too high, is the nearest that exists."""
    return Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
