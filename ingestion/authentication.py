"""Who calls: a bearer token, or the session of a person who is signed in on the pages."""

import copy
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework import permissions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from ingestion import connections
from ingestion.models import Caller
from ingestion.models.callers import hash_token

if TYPE_CHECKING:
    # DRF's views load this module while they are loaded themselves.
    from rest_framework.views import APIView

# A token has 46 characters; anything much longer is not one and is not worth hashing.
TOKEN_MAX = 200
UNKNOWN_TOKEN = "This token is not known; ask an operator for one."  # noqa: S105  (no token, but what is said)
# Every request begins with this look-up, a refused one hardly does more: it is half of what refusing costs.
# Columns that are not named are read when they are asked for.
COLUMNS = ("id", "name", "rights", "uploads_per_minute", "is_active", "user_id")
LOOK_UP = """
SELECT id, name, rights, uploads_per_minute, is_active, user_id
FROM ingestion_caller WHERE token_hash = %(token_hash)s AND is_active
"""


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`, looked up by the token's hash."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        token = bearer_token(header)
        if token is None:
            raise AuthenticationFailed("Send the header 'Authorization: Bearer TOKEN'.")
        caller = caller_with(hash_token(token))
        if caller is None:
            raise AuthenticationFailed(UNKNOWN_TOKEN)
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="larkfield"'


def bearer_token(header: str) -> str | None:
    """The token of an Authorization header; None where it is none of ours."""
    scheme, _, token = header.partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token and len(token) <= TOKEN_MAX else None


def caller_with(token_hash: str) -> Caller | None:
    """The active caller whose token has this hash."""
    rows = connections.prepared(LOOK_UP, {"token_hash": token_hash})
    return caller_of_row(rows[0]) if rows else None


def caller_of_row(row: tuple[Any, ...]) -> Caller:
    """The caller in a row that holds COLUMNS in their order."""
    return Caller.from_db(DEFAULT_DB_ALIAS, COLUMNS, row)


def check_right(caller: Caller | None, right: str) -> Caller:
    """The caller, if it is known and has the right. Raises what becomes a 401 or a 403."""
    if caller is None:
        raise AuthenticationFailed(UNKNOWN_TOKEN)
    if not caller.can(right):
        raise PermissionDenied(missing_right(right))
    return caller


def missing_right(right: str) -> str:
    return f"This needs the right '{right}'; ask an operator."


class PageSessionAuthentication(SessionAuthentication):
    """A signed-in person acts as the caller that the account is tied to; unsafe methods need the CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """The token comes in the header: looking for it in a form would read the body before it is bounded."""
        bare: Any = copy.copy(request._request)
        bare._post, bare._files = QueryDict(), MultiValueDict()
        super().enforce_csrf(bare)

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        caller = Caller.objects.filter(user=found[0], is_active=True).first()
        if caller is None:
            raise AuthenticationFailed("This account is tied to no caller; ask an operator.")
        return caller, None


def caller_of(request: Request) -> Caller:
    """The caller of a request that passed `IsCaller`."""
    caller: object = request.user
    assert isinstance(caller, Caller)
    return caller


class IsCaller(permissions.BasePermission):
    """Every valid token may read; a view names a right more in `required_right`, by method where it differs."""

    message = "This caller lacks the right."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if not isinstance(request.user, Caller):
            return False
        rights = getattr(view, "required_rights", {})
        right = rights.get(request.method)
        if right is None or request.user.can(right):
            return True
        self.message = missing_right(right)
        return False
