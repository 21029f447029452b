"""Making callers: who may call, under which token and with which rights. Recognising one is `authentication`."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ingestion.models import Caller
from ingestion.models.callers import RIGHTS, hash_token, new_token

DEMO_NAME = "demo"
NAME_MAX = 100


class CallerError(Exception):
    """The caller can't be made or changed; the text says why in one line."""


def check_name(name: str) -> str:
    """The name without blanks at its ends. Raises CallerError: it has 1 to 100 printable characters."""
    name = name.strip()
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        raise CallerError(f"A caller's name has 1 to {NAME_MAX} printable characters; this is {name!r}.")
    return name


def check_rights(rights: Sequence[str]) -> list[str]:
    """The rights in the order of RIGHTS, each once. Raises CallerError for an unknown one and for none."""
    unknown = [right for right in rights if right not in RIGHTS]
    if unknown or not rights:
        named = ", ".join(repr(right) for right in unknown) or "(none)"
        raise CallerError(f"Unknown right {named}: choose from {', '.join(RIGHTS)}.")
    return [right for right in RIGHTS if right in rights]


def create(name: str, rights: Sequence[str], uploads_per_minute: int | None = None) -> str:
    """A new caller exists; its token, which is stored nowhere. Raises CallerError when the name is taken."""
    name, token = check_name(name), new_token()
    try:
        with transaction.atomic():
            Caller.objects.create(
                name=name,
                token_hash=hash_token(token),
                rights=check_rights(rights),
                uploads_per_minute=uploads_per_minute,
            )
    except IntegrityError:
        raise CallerError(f"The caller {name!r} exists already; --rotate gives it a new token.") from None
    return token


def rotate(name: str, rights: Sequence[str] | None = None, uploads_per_minute: int | None = None) -> str:
    """The caller's earlier token is worthless; its new one. Rights and limit change only where they are given."""
    name, token = check_name(name), new_token()
    changes: dict[str, object] = {"token_hash": hash_token(token), "rotated_at": Now()}
    if rights is not None:
        changes["rights"] = check_rights(rights)
    if uploads_per_minute is not None:
        changes["uploads_per_minute"] = uploads_per_minute
    if not Caller.objects.filter(name=name).update(**changes):
        raise CallerError(f"There is no caller {name!r}; leave out --rotate to make it.")
    return token


@transaction.atomic
def ensure_demo(token: str, password: str) -> None:
    """The caller `demo` has all rights and this token, and the account `demo`, tied to it, this password.

    In development the account is a superuser, so that the admin pages can be looked at.
    Called again it changes only what differs.
    """
    user, _ = get_user_model().objects.get_or_create(username=DEMO_NAME)
    # A password that is set again ends the sessions of those who are signed in.
    if not user.check_password(password):
        user.set_password(password)
    user.is_staff = user.is_superuser = not settings.IS_PRODUCTION
    user.is_active = True
    user.save()
    values = {"token_hash": hash_token(token), "rights": list(RIGHTS), "is_active": True, "user": user}
    Caller.objects.update_or_create(name=DEMO_NAME, defaults=values)
