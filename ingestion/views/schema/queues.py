"""GET /v1/queue in the schema."""

from rest_framework import serializers


class AmountSerializer(serializers.Serializer[object]):
    jobs = serializers.IntegerField(min_value=0)
    units = serializers.IntegerField(min_value=0)
    bytes = serializers.IntegerField(min_value=0)


class QueueNumbersSerializer(serializers.Serializer[object]):
    bound = AmountSerializer()
    depth = AmountSerializer(help_text="queued and running; never above the bound")
    queued = serializers.IntegerField(min_value=0)
    ready = serializers.IntegerField(min_value=0)
    running = serializers.IntegerField(min_value=0)
    dead_letters = serializers.IntegerField(min_value=0)
    oldest_age_seconds = serializers.FloatField(min_value=0)
    pace_per_minute = serializers.FloatField(min_value=0)
    drain_seconds = serializers.FloatField(allow_null=True, help_text="null while the queue grows")
    accepting = serializers.BooleanField()
    workers = serializers.IntegerField(min_value=0, help_text="live ones")


class QueuesSerializer(serializers.Serializer[object]):
    documents = QueueNumbersSerializer()
    events = QueueNumbersSerializer()


class LaneSerializer(serializers.Serializer[object]):
    limit = serializers.IntegerField(min_value=0, help_text="chat: requests a minute, embeddings: tokens a minute")
    used = serializers.IntegerField(min_value=0)
    question_share = serializers.FloatField(min_value=0, max_value=1)


class ProviderStandingSerializer(serializers.Serializer[object]):
    state = serializers.ChoiceField(["ok", "open", "half_open", "paused"])
    reason = serializers.CharField(allow_null=True)
    chat = LaneSerializer()
    embeddings = LaneSerializer()


class QueueSerializer(serializers.Serializer[object]):
    queues = QueuesSerializer()
    provider = ProviderStandingSerializer()
