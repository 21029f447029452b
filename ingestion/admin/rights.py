"""Who may do what in the admin: the rights of the account's caller decide, and a superuser has them all.

`is_staff` opens the door, as everywhere in Django; Django's own permission tables decide nothing here. What breaks an
invariant is open to nobody, superusers included.
"""

from typing import Any, ClassVar

from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from ingestion.models import Caller

_NAME = "_larkfield_caller"


def caller_of_account(request: HttpRequest) -> Caller | None:
    """The active caller that the signed-in account is tied to; looked up once a request."""
    if not hasattr(request, _NAME):
        found = Caller.objects.filter(user_id=request.user.pk, is_active=True).first() if request.user.pk else None
        setattr(request, _NAME, found)
    found = getattr(request, _NAME)
    return found if isinstance(found, Caller) else None


def may(request: HttpRequest, right: str | None) -> bool:
    """The account may do what needs this right; None: every caller may."""
    user: Any = request.user
    if not (user.is_active and user.is_staff):
        return False
    if user.is_superuser:
        return True
    caller = caller_of_account(request)
    return caller is not None and (right is None or caller.can(right))


class ByRight:
    """Shown to accounts with `right`. Nothing is added, changed or deleted, unless a class says otherwise."""

    right: ClassVar[str | None] = "operate"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may(request, self.right)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may(request, self.right)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """What actions ask for."""
        return may(request, "operate")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def note(request: HttpRequest, changed: QuerySet[Any], words: str) -> None:
    """The admin's own history names the account that did it, once for each row. Never a secret in `words`."""
    if request.user.pk:
        LogEntry.objects.log_actions(request.user.pk, changed, CHANGE, change_message=words)
