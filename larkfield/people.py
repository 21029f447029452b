"""Middleware for people with a browser: sessions, their accounts and their messages.

A program that calls the API with a token needs none of it, and passes by: it would cost as much as the answer. (A
request with an Authorization header is never judged by its session: `ingestion.authentication`.)
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest

API = "/v1/"


def is_program(request: HttpRequest) -> bool:
    """The request brings a token, good or bad, to the API."""
    return "HTTP_AUTHORIZATION" in request.META and request.path_info.startswith(API)


class _PassesPrograms:
    """Stands before a middleware and leaves it out for programs."""

    get_response: Callable[[HttpRequest], Any]

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_program(request) else super().__call__(request)  # type: ignore[misc]


class Sessions(_PassesPrograms, SessionMiddleware):
    pass


class Accounts(_PassesPrograms, AuthenticationMiddleware):
    pass


class Messages(_PassesPrograms, MessageMiddleware):
    pass
