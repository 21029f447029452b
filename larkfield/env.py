"""Typed readers of environment variables that fail loudly.

Every reader takes the variable's name and its default and returns a value of one type. A value that cannot
be read raises `InvalidVariable`, whose text names the variable, what was found and what is accepted.
Contradictions between two values are not found here but by the system checks in `larkfield.checks`.
"""

import os

from django.core.exceptions import ImproperlyConfigured


class InvalidVariable(ImproperlyConfigured):
    """An environment variable holds a value that its reader does not accept."""


def text(name: str, default: str = "") -> str:
    """The variable without surrounding blanks; empty counts as not set."""
    return os.environ.get(name, "").strip() or default


def _number(name: str, found: str, convert: type[int] | type[float], wanted: str) -> float:
    try:
        value = convert(found)
    except ValueError:
        raise InvalidVariable(f"{name} is {found!r}: it must be {wanted}.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise InvalidVariable(f"{name} is {found!r}: it must be {wanted}.")
    return value


def _within(name: str, value: float, least: float, most: float | None) -> None:
    if value < least or (most is not None and value > most):
        limits = f"at least {least:g}" if most is None else f"from {least:g} to {most:g}"
        raise InvalidVariable(f"{name} is {value:g}: it must be {limits}.")


def whole(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """A whole number between `least` and `most`."""
    found = text(name)
    if not found:
        return default
    value = int(_number(name, found, int, "a whole number"))
    _within(name, value, least, most)
    return value


def seconds(name: str, default: float, *, least: float = 0.0, most: float | None = None) -> float:
    """A duration in seconds; decimals are allowed."""
    return share(name, default, least=least, most=most)


def share(name: str, default: float, *, least: float = 0.0, most: float | None = 1.0) -> float:
    """A decimal number between `least` and `most`."""
    found = text(name)
    if not found:
        return default
    value = _number(name, found, float, "a number")
    _within(name, value, least, most)
    return value


def words(name: str, default: list[str]) -> list[str]:
    """A list separated by commas."""
    found = text(name)
    return [word.strip() for word in found.split(",") if word.strip()] if found else default


def one_of(name: str, default: str, accepted: tuple[str, ...]) -> str:
    """One of a few words."""
    found = text(name, default)
    if found not in accepted:
        raise InvalidVariable(f"{name} is {found!r}: it must be one of {', '.join(accepted)}.")
    return found
