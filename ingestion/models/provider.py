"""What all processes share about the provider: quota, breaker, and the ledger of calls."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class ProviderLane(models.Model):
    """A quota as a continuously refilling bucket: `level` at `level_at`, refilled by the limit each minute."""

    name = models.CharField(max_length=16, primary_key=True)
    # What the operator configured, and what the provider's own headers say when that is less.
    limit_per_minute = models.IntegerField()
    observed_limit = models.IntegerField(null=True)
    level = models.FloatField()
    level_at = models.DateTimeField(db_default=Now())
    # The provider said when to come back (a 429's Retry-After).
    blocked_until = models.DateTimeField(null=True)
    # insufficient_quota, 401, 403: waits for a person; one probe after each of these times.
    paused_until = models.DateTimeField(null=True)
    paused_since = models.DateTimeField(null=True)
    pause_reason = models.TextField(default="", db_default="", blank=True)

    def __str__(self) -> str:
        return self.name


class ProviderState(models.Model):
    """The breaker: one row for all processes."""

    id = models.IntegerField(primary_key=True, default=1)
    state = models.CharField(max_length=16, default="closed", db_default="closed")
    failures = models.IntegerField(default=0, db_default=0)
    # How often it opened without a success between: doubles the time that it stays open.
    openings = models.IntegerField(default=0, db_default=0)
    open_until = models.DateTimeField(null=True)
    open_since = models.DateTimeField(null=True)
    probe_until = models.DateTimeField(null=True)
    probe_id = models.CharField(max_length=64, default="", db_default="", blank=True)
    reason = models.TextField(default="", db_default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="provider_state_is_one_row"),
            models.CheckConstraint(
                condition=Q(state__in=("closed", "open", "half_open")), name="breaker_state_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.state


class ProviderCall(models.Model):
    """One call: its intent is written before it is made, its outcome after."""

    # Sent as X-Client-Request-Id: finds the call in the provider's own records.
    client_request_id = models.CharField(max_length=100, unique=True)
    job = models.ForeignKey("ingestion.Job", null=True, on_delete=models.CASCADE, related_name="provider_calls")
    generation = models.BigIntegerField(null=True)
    lane = models.CharField(max_length=16)
    model = models.CharField(max_length=100)
    purpose = models.CharField(max_length=16)
    step = models.CharField(max_length=32)
    inputs = models.IntegerField(default=1, db_default=1)
    reserved = models.IntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    # null while under way; what a crash leaves null has an unknown outcome and may have been charged.
    outcome = models.CharField(max_length=32, null=True)
    status = models.IntegerField(null=True)
    prompt_tokens = models.IntegerField(default=0, db_default=0)
    completion_tokens = models.IntegerField(default=0, db_default=0)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=9, default=0, db_default=0)
    error = models.TextField(default="", db_default="", blank=True)

    class Meta:
        indexes = [
            models.Index("started_at", name="call_started"),
            models.Index("lane", "finished_at", name="call_lane_finished"),
        ]

    def __str__(self) -> str:
        return self.client_request_id
