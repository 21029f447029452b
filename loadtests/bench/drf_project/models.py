"""The row that the view inserts: the same fields as an event has, one unique index less."""

from django.db import models


class Row(models.Model):
    producer = models.CharField(max_length=255)
    event_id = models.CharField(max_length=255)
    type = models.CharField(max_length=64)
    occurred_at = models.DateTimeField()
    payload = models.JSONField()

    class Meta:
        app_label = "drf_project"

    def __str__(self) -> str:
        return str(self.pk)
