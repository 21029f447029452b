"""Shapes of the assistant's answers as the API's schema shows them. They describe; nothing is read through them."""

from rest_framework import serializers


class SearchResultSerializer(serializers.Serializer[object]):
    document = serializers.CharField(help_text="slug of the document")
    version = serializers.IntegerField(help_text="number of the published version")
    position = serializers.IntegerField(help_text="the chunk's place in the version, from 0")
    heading_path = serializers.ListField(child=serializers.CharField())
    start = serializers.IntegerField(help_text="code points into the version's normalised text")
    end = serializers.IntegerField()
    text = serializers.CharField(help_text="the exact slice start:end")
    score = serializers.FloatField(help_text="fused rank, higher is better; comparable within one answer only")


class SearchSerializer(serializers.Serializer[object]):
    results = SearchResultSerializer(many=True)


class CitationSerializer(serializers.Serializer[object]):
    marker = serializers.IntegerField(help_text="n of [n] in the answer")
    document = serializers.CharField()
    title = serializers.CharField()
    version = serializers.IntegerField()
    position = serializers.IntegerField()
    heading_path = serializers.ListField(child=serializers.CharField())
    start = serializers.IntegerField(help_text="code points into the version's normalised text")
    end = serializers.IntegerField()
    quote = serializers.CharField(help_text="the exact slice start:end: what the answer rests on")


class NewerPendingSerializer(serializers.Serializer[object]):
    document = serializers.CharField()
    version = serializers.IntegerField(help_text="a newer version that waits to be published")


class UsageSerializer(serializers.Serializer[object]):
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    embedding_tokens = serializers.IntegerField()
    cost_usd = serializers.CharField(help_text="US dollars as a decimal; 0 for a cached answer")


class AnswerSerializer(serializers.Serializer[object]):
    answer = serializers.CharField()
    citations = CitationSerializer(many=True)
    newer_pending = NewerPendingSerializer(many=True)
    cached = serializers.BooleanField()
    usage = UsageSerializer()


# One line of 1 to 2,000 characters with something to read in it; control characters count as spaces.
QUESTION = {
    "type": "string", "minLength": 1, "maxLength": 2000, "pattern": "[^\\s\\u0000-\\u001f\\u007f-\\u009f]",
}  # fmt: skip
QUESTION_BODY = {"type": "object", "properties": {"question": QUESTION}, "required": ["question"]}
STREAM = {
    "type": "string",
    "description": "Server-sent events: `delta` with `{text}`, then one `done` with the whole answer, or one `error`.",
}

QUESTION_EXAMPLE = {"question": "How long may goods be returned?"}
_QUOTE = "Goods may be returned within 30 days."
_PLACE = {"document": "returns", "version": 2, "position": 0, "heading_path": ["Returns"], "start": 11, "end": 48}
SEARCH_EXAMPLE = {"results": [{**_PLACE, "text": _QUOTE, "score": 0.0327}]}
ANSWER_EXAMPLE = {
    "answer": "Goods may be returned within 30 days. [1]",
    "citations": [{"marker": 1, "title": "Returns", **_PLACE, "quote": _QUOTE}],
    "newer_pending": [{"document": "returns", "version": 3}],
    "cached": False,
    "usage": {"prompt_tokens": 420, "completion_tokens": 12, "embedding_tokens": 8, "cost_usd": "0.000071"},
}
STREAM_EXAMPLE = 'event: delta\ndata: {"text": "Goods may be"}\n\n'
