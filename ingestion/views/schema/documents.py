"""Documents, versions and news in the schema."""

from rest_framework import serializers

from ingestion.models.documents import UNPUBLISHED_STATES
from ingestion.pipeline.media_types import CONVERTED, MARKDOWN, PLAIN
from ingestion.views.schema.pieces import (
    ESTIMATE,
    JOB,
    EstimateSerializer,
    JobReferenceSerializer,
    digest,
    moment,
    money,
    page_of,
)

VERSION_STATES = sorted({*UNPUBLISHED_STATES.values(), "published", "superseded"})


class PublishedSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(min_value=1)
    published_at = moment()
    summary = serializers.CharField(allow_null=True)
    chunk_count = serializers.IntegerField(allow_null=True)
    url = serializers.CharField()


class PendingSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(min_value=1)
    job = JobReferenceSerializer()
    estimate = EstimateSerializer()
    url = serializers.CharField()


class DocumentSerializer(serializers.Serializer[object]):
    slug = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    published = PublishedSerializer(allow_null=True)
    pending = PendingSerializer(allow_null=True)


class ChunkSerializer(serializers.Serializer[object]):
    position = serializers.IntegerField(min_value=0)
    start = serializers.IntegerField(min_value=0, help_text="code points into the version's normalised text")
    end = serializers.IntegerField(min_value=1)
    heading_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField(help_text="the exact slice start:end")


class VersionSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(min_value=1)
    state = serializers.ChoiceField(VERSION_STATES)
    title = serializers.CharField()
    sha256 = digest()
    bytes = serializers.IntegerField(min_value=1)
    media_type = serializers.CharField()
    file_name = serializers.CharField(allow_null=True)
    summary = serializers.CharField(allow_null=True)
    cost_usd = money()
    chunk_count = serializers.IntegerField(allow_null=True)
    created_at = moment()
    published_at = moment(may_be_null=True)
    superseded_at = moment(may_be_null=True)
    job = JobReferenceSerializer()
    url = serializers.CharField()
    chunks = ChunkSerializer(many=True, required=False, help_text="with ?include=chunks")


class NewsItemSerializer(serializers.Serializer[object]):
    document = serializers.CharField()
    title = serializers.CharField()
    version = serializers.IntegerField(min_value=1)
    published_at = moment()
    summary = serializers.CharField(allow_null=True)
    url = serializers.CharField()


class UploadedDocumentSerializer(serializers.Serializer[object]):
    slug = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()


class UploadedVersionSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(min_value=1)
    state = serializers.ChoiceField(["pending"])
    sha256 = digest()
    bytes = serializers.IntegerField(min_value=1)
    url = serializers.CharField()


class UploadedSerializer(serializers.Serializer[object]):
    document = UploadedDocumentSerializer()
    version = UploadedVersionSerializer()
    job = JobReferenceSerializer()
    estimate = EstimateSerializer()


DocumentPage = page_of(DocumentSerializer, "Documents")
VersionPage = page_of(VersionSerializer, "Versions")
NewsPage = page_of(NewsItemSerializer, "News")


class UsageCountsSerializer(serializers.Serializer[object]):
    views = serializers.IntegerField(min_value=0)
    citations = serializers.IntegerField(min_value=0)
    ratings = serializers.IntegerField(min_value=0)
    rating_sum = serializers.IntegerField(min_value=0)
    resolved = serializers.IntegerField(min_value=0)


class UsageDaySerializer(UsageCountsSerializer):
    date = serializers.DateField(help_text="of `occurred_at`, in UTC")


class DocumentUsageSerializer(serializers.Serializer[object]):
    totals = UsageCountsSerializer()
    days = UsageDaySerializer(many=True)


_TEXT = {"type": "string", "minLength": 1}
_BYTES = {"type": "string", "format": "binary"}
_FORM = {
    "type": "object",
    "properties": {"file": _BYTES, "title": {"type": "string", "maxLength": 200}},
    "required": ["file"],
}
# The raw file under its own media type, or a form with the file in it.
UPLOAD_BODIES = {
    MARKDOWN: _TEXT,
    PLAIN: _TEXT,
    **dict.fromkeys(sorted(CONVERTED), _BYTES),
    "multipart/form-data": _FORM,
}
# A file comes back under the type that it was uploaded with.
FILES = {(200, media_type): bytes for media_type in (MARKDOWN, PLAIN, *sorted(CONVERTED))}

UPLOAD_TEXT = "# Returns\n\nGoods may be returned within 30 days.\n"
_DOCUMENT = {"slug": "returns", "title": "Returns", "url": "/v1/documents/returns"}
UPLOADED = {
    "document": _DOCUMENT,
    "version": {
        "number": 3, "state": "pending", "sha256": "9f" * 32, "bytes": 49, "url": "/v1/documents/returns/versions/3",
    },
    "job": JOB,
    "estimate": ESTIMATE,
}  # fmt: skip
DOCUMENT = {
    **_DOCUMENT,
    "published": {
        "number": 2, "published_at": "2026-11-27T09:00:00Z", "summary": "Goods may be returned within 30 days.",
        "chunk_count": 12, "url": "/v1/documents/returns/versions/2",
    },
    "pending": {"number": 3, "job": JOB, "estimate": ESTIMATE, "url": "/v1/documents/returns/versions/3"},
}  # fmt: skip
