"""Who may call: names, hashed tokens, rights and limits."""

import hashlib
import secrets
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

RIGHTS = ("upload", "ask", "produce", "operate")
TOKEN_PREFIX = "lk_"  # noqa: S105  (no token, only how each begins)


def new_token() -> str:
    """A fresh token: a prefix by which secret scanners know it, and 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """SHA-256 is enough here: a token has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Caller(models.Model):
    """One program or person that calls the API; a person's account on the pages is tied to one."""

    name = models.CharField(max_length=100, unique=True)
    token_hash = models.CharField(max_length=64, unique=True, null=True, editable=False)
    rights = ArrayField(models.CharField(max_length=16), default=list)
    uploads_per_minute = models.PositiveIntegerField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="caller"
    )
    created_at = models.DateTimeField(db_default=Now())
    rotated_at = models.DateTimeField(null=True, blank=True)

    # DRF asks a request's user for this; a caller that was found is one.
    is_authenticated: ClassVar[bool] = True

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rights__contained_by=list(RIGHTS)), name="caller_rights_are_known"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def can(self, right: str) -> bool:
        return right in self.rights
