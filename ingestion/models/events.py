"""Events from producers, their one effect, and how far each partition has come."""

from django.db import models
from django.db.models.functions import Now


class EventRecord(models.Model):
    """An accepted event. Its state is what its job says; its identity is (producer, event_id) for good."""

    producer = models.CharField(max_length=255)
    event_id = models.CharField(max_length=255)
    caller = models.ForeignKey("ingestion.Caller", on_delete=models.PROTECT, related_name="events")
    type = models.CharField(max_length=64)
    partition = models.CharField(max_length=255)
    occurred_at = models.DateTimeField()
    payload = models.JSONField()
    # SHA-256 of type and payload as canonical JSON: decides between a replay and a conflict.
    payload_hash = models.CharField(max_length=64)
    job = models.OneToOneField("ingestion.Job", on_delete=models.PROTECT, related_name="event")
    received_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index("caller", name="event_caller")]
        constraints = [models.UniqueConstraint("producer", "event_id", name="event_identity_once")]

    def __str__(self) -> str:
        return f"{self.producer}/{self.event_id}"


class ProducerOwner(models.Model):
    """A producer name belongs to the caller that first sent under it."""

    producer = models.CharField(max_length=255, primary_key=True)
    caller = models.ForeignKey("ingestion.Caller", on_delete=models.PROTECT)

    def __str__(self) -> str:
        return self.producer


class Checkpoint(models.Model):
    """How far a partition has come: the sequence of the last event that was applied in turn."""

    partition = models.CharField(max_length=255, primary_key=True)
    last_applied = models.BigIntegerField(default=0, db_default=0)
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.partition


class EventEffect(models.Model):
    """That an event's effect is in the projection; written with it, once, whoever delivers again."""

    event = models.OneToOneField(EventRecord, primary_key=True, on_delete=models.PROTECT, related_name="effect")
    generation = models.BigIntegerField()
    applied_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"effect of {self.event_id}"


class UsageDay(models.Model):
    """The usage projection: what happened to one version of a document on one day (UTC)."""

    document = models.ForeignKey("ingestion.Document", on_delete=models.CASCADE, related_name="usage")
    # 0: the event named no version.
    version_number = models.IntegerField(default=0, db_default=0)
    date = models.DateField()
    views = models.BigIntegerField(default=0, db_default=0)
    citations = models.BigIntegerField(default=0, db_default=0)
    ratings = models.BigIntegerField(default=0, db_default=0)
    rating_sum = models.BigIntegerField(default=0, db_default=0)
    resolved = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint("document", "version_number", "date", name="usage_once_a_day_and_version")
        ]

    def __str__(self) -> str:
        return f"{self.document_id} on {self.date}"


class IntakeCount(models.Model):
    """What a caller offered that left no event: counted, so that the ledger balances.

    The sum over a caller's shards counts; a connection adds to its own, so that refusals don't wait for each other.
    """

    caller = models.ForeignKey("ingestion.Caller", on_delete=models.CASCADE)
    shard = models.SmallIntegerField(default=0, db_default=0)
    replayed = models.BigIntegerField(default=0, db_default=0)
    rejected = models.BigIntegerField(default=0, db_default=0)
    invalid = models.BigIntegerField(default=0, db_default=0)
    conflict = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "shard"], name="intake_count_once_a_shard")]

    def __str__(self) -> str:
        return f"refusals of {self.caller_id}"
