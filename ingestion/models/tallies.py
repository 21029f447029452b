"""Counters that outlive the rows they were counted from, so that Prometheus sees them only grow."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Tally(models.Model):
    """One counter, or one bucket of a histogram: `name` of the metric, its `label`, and the `part` of it."""

    name = models.CharField(max_length=64)
    label = models.CharField(max_length=32)
    part = models.CharField(max_length=32)
    total = models.FloatField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint("name", "label", "part", name="tally_once")]
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"{self.name} {self.label} {self.part}"


class TallyMark(models.Model):
    """One row: how far history is counted. What was looked at and may still be uncommitted is counted the next time."""

    id = models.IntegerField(primary_key=True, default=1)
    # Outcomes up to this id are counted; up to `outcomes_seen` they were given out by `seen_at`, if not committed.
    outcomes_counted = models.BigIntegerField(default=0, db_default=0)
    outcomes_seen = models.BigIntegerField(default=0, db_default=0)
    seen_at = models.DateTimeField(db_default=Now())
    # Calls that ended before this are counted; null: none is.
    calls_counted_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="tally_mark_is_one_row")]

    def __str__(self) -> str:
        return f"outcomes up to {self.outcomes_counted}"
