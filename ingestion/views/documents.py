"""GET and DELETE of documents, versions, texts, files and news; any valid token may read."""

from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Prefetch, Q, QuerySet
from django.http import FileResponse, HttpResponse, HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import deleting
from ingestion.models import Chunk, Document, DocumentVersion
from ingestion.models.jobs import LIVE_STATES
from ingestion.naming import is_slug
from ingestion.problems import Problem
from ingestion.views import shapes
from ingestion.views.paging import PAGE_SIZE, page, read_cursor
from ingestion.views.schema import Example, described, path, query
from ingestion.views.schema import documents as answers
from ingestion.views.schema.pieces import CURSOR, INCLUDE, NUMBER, SLUG

QUERY_MAX = 200
# Numbers beyond the column's range name no version.
NUMBER_MAX = 2**31 - 1

SLUG_PATH = path("slug", SLUG, "the document")
NUMBER_PATH = path("number", NUMBER, "of the version")
CURSOR_QUERY = query("cursor", CURSOR, "the page after this position")
INCLUDE_QUERY = query("include", INCLUDE, "adds each version's `chunks`")


def _document(slug: str) -> Document:
    documents = Document.objects.select_related("published__job__summary").filter(deleted_at=None)
    found = documents.filter(slug=slug).first() if is_slug(slug) else None
    if found is None:
        raise Problem("not_found", f"There is no document '{slug[:100]}'.")
    return found


def _pending(document: Document) -> DocumentVersion | None:
    """The newest version that is on its way."""
    live = document.versions.filter(job__state__in=LIVE_STATES)
    return live.select_related("job").order_by("-number").first()


def _versions(slug: str) -> QuerySet[DocumentVersion]:
    """The document's versions since it was last deleted."""
    return DocumentVersion.objects.select_related("job__summary").filter(document=_document(slug), deleted_at=None)


def _version(slug: str, number: int) -> DocumentVersion:
    found = None
    if number <= NUMBER_MAX:
        versions = _versions(slug)
        found = versions.filter(number=number).first()
    if found is None:
        raise Problem("not_found", f"The document '{slug[:100]}' has no version {number}.")
    return found


class DocumentList(APIView):
    @described(
        "list_documents",
        {200: answers.DocumentPage},
        parameters=[
            CURSOR_QUERY,
            query("q", {"type": "string", "maxLength": QUERY_MAX, "pattern": "^[^\\u0000]*$"}, "in title or slug"),
        ],
    )
    def get(self, request: Request) -> Response:
        documents = Document.objects.filter(deleted_at=None).select_related("published__job__summary")
        query = request.query_params.get("q", "").strip()
        if len(query) > QUERY_MAX or "\x00" in query:
            raise Problem("invalid_request", f"q has at most {QUERY_MAX} characters and no NUL.")
        if query:
            documents = documents.filter(Q(title__icontains=query) | Q(slug__icontains=query))
        if after := read_cursor(request, str):
            documents = documents.filter(slug__gt=after)
        live = DocumentVersion.objects.filter(job__state__in=LIVE_STATES).select_related("job").order_by("-number")
        documents = documents.prefetch_related(Prefetch("versions", queryset=live, to_attr="on_their_way"))
        found, following = page(request, list(documents.order_by("slug")[: PAGE_SIZE + 1]), lambda row: row.slug)
        results = [shapes.document(row, row.on_their_way[0] if row.on_their_way else None) for row in found]
        return Response({"results": results, "next": following})


class DocumentDetail(APIView):
    required_rights = {"DELETE": "operate"}

    @described(
        "read_document",
        {200: answers.DocumentSerializer},
        "not_found",
        parameters=[SLUG_PATH],
        examples=[Example("A newer version waits", answers.DOCUMENT, 200)],
    )
    def get(self, request: Request, slug: str) -> Response:
        document = _document(slug)
        return Response(shapes.document(document, _pending(document)))

    @described("delete_document", {204: None}, "forbidden", "not_found", parameters=[SLUG_PATH])
    def delete(self, request: Request, slug: str) -> Response:
        if not (is_slug(slug) and deleting.delete_document(slug)):
            raise Problem("not_found", f"There is no document '{slug[:100]}'.")
        return Response(status=204)


def list_versions(request: Request, slug: str) -> Response:
    """The versions of a document, newest first."""
    wants_chunks(request)
    versions = _versions(slug)
    if (before := read_cursor(request, int)) is not None:
        versions = versions.filter(number__lt=before)
    found, following = page(request, list(versions.order_by("-number")[: PAGE_SIZE + 1]), lambda row: row.number)
    return Response({"results": [_with_chunks(request, row, slug) for row in found], "next": following})


def _with_chunks(request: Request, found: DocumentVersion, slug: str) -> dict[str, Any]:
    """The version, with its chunks where `?include=chunks` asks for them."""
    answer = shapes.version(found, slug)
    if wants_chunks(request):
        answer["chunks"] = _chunks(found)
    return answer


def wants_chunks(request: Request) -> bool:
    """Whether `?include=chunks` is there. Raises Problem 400 for another value."""
    include = request.query_params.get("include")
    if include not in (None, "chunks"):
        raise Problem("invalid_request", "'include' can only be 'chunks'.")
    return include is not None


class VersionDetail(APIView):
    @described(
        "read_version",
        {200: answers.VersionSerializer},
        "not_found",
        parameters=[SLUG_PATH, NUMBER_PATH, INCLUDE_QUERY],
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        wants_chunks(request)
        return Response(_with_chunks(request, _version(slug, number), slug))


def _chunks(version: DocumentVersion) -> list[dict[str, Any]]:
    rows = Chunk.objects.filter(version=version).order_by("position")
    return [dict(row) for row in rows.values("position", "start", "end", "heading_path", "text")]


class VersionText(APIView):
    @described("read_text", {(200, "text/plain"): str}, "not_found", "conflict", parameters=[SLUG_PATH, NUMBER_PATH])
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        found = _version(slug, number)
        if found.text is None:
            raise Problem("conflict", "The version's text was not read yet; its job tells how far it is.")
        return HttpResponse(found.text, content_type="text/plain; charset=utf-8")


class VersionFile(APIView):
    @described("download_file", answers.FILES, "not_found", parameters=[SLUG_PATH, NUMBER_PATH])
    def get(self, request: Request, slug: str, number: int) -> HttpResponseBase:
        found = _version(slug, number)
        try:
            stored = default_storage.open(found.storage_key, "rb")
        except FileNotFoundError:
            raise Problem("not_found", "The file of this version is no longer kept.") from None
        name = found.file_name or f"{slug}-{number}"
        return FileResponse(stored, as_attachment=True, filename=name, content_type=found.media_type)


class News(APIView):
    @described("list_news", {200: answers.NewsPage}, parameters=[CURSOR_QUERY])
    def get(self, request: Request) -> Response:
        versions = DocumentVersion.objects.filter(published_of__isnull=False, published_of__deleted_at=None)
        versions = versions.select_related("job__summary", "document").order_by("-published_at", "-id")
        if after := read_cursor(request, int):
            edge = DocumentVersion.objects.filter(id=after).first()
            if edge is None or edge.published_at is None:
                raise Problem("invalid_request", "The cursor is not one that a 'next' of this list gave.")
            older = Q(published_at__lt=edge.published_at) | Q(published_at=edge.published_at, id__lt=edge.id)
            versions = versions.filter(older)
        found, following = page(request, list(versions[: PAGE_SIZE + 1]), lambda row: row.id)
        return Response({"results": [_news(row) for row in found], "next": following})


def _news(version: DocumentVersion) -> dict[str, Any]:
    slug = version.document.slug
    return {
        "document": slug,
        "title": version.title,
        "version": version.number,
        "published_at": shapes.moment(version.published_at),
        "summary": shapes.summary_of(version),
        "url": f"{shapes.document_url(slug)}/versions/{version.number}",
    }
