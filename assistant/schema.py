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


class QuestionSerializer(serializers.Serializer[object]):
    question = serializers.CharField(min_length=1, max_length=2000)


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


class ProblemSerializer(serializers.Serializer[object]):
    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
