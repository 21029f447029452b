"""Typed readers of environment variables that fail loudly.

Every reader takes the variable's name and its default and returns a value of one type. A value that can't be
accepted is noted in `refused` with the variable's name, what was found and what is accepted, and the default stands in
until `larkfield.checks` stops the start and names them all at once. Contradictions between two values are found there.
"""

import os

from django.core.exceptions import ImproperlyConfigured

# What PostgreSQL's integer and bigint columns are compared with, the latter within what JSON keeps exactly.
WHOLE_MAX = 2**31 - 1
LARGE_MAX = 2**53
# A hundred years in seconds: longer is no duration, and moments beyond the calendar can't be computed.
SECONDS_MAX = 3_155_760_000

# The refused variables and why.
refused: dict[str, str] = {}


class InvalidVariable(ImproperlyConfigured):
    """An environment variable holds a value without which not even the settings can be read."""


def text(name: str, default: str = "") -> str:
    """The variable without surrounding blanks; empty counts as not set."""
    return os.environ.get(name, "").strip() or default


def _number(
    name: str, default: float, convert: type[int] | type[float], wanted: str, limits: tuple[float, float]
) -> float:
    found = text(name)
    if not found:
        return default
    least, most = limits
    try:
        value = convert(found)
        # Also keeps out NaN, which is within no limits.
        if least <= value <= most:
            return value
    except ValueError:
        pass
    refused[name] = f"{name} is {found[:80]!r}: it must be {wanted} from {least} to {most}."
    return default


def whole(name: str, default: int, *, least: int = 0, most: int = WHOLE_MAX) -> int:
    """A whole number between `least` and `most`."""
    return int(_number(name, default, int, "a whole number", (least, most)))


def seconds(name: str, default: float, *, least: float = 0.0, most: float = SECONDS_MAX) -> float:
    """A duration in seconds; decimals are allowed."""
    return _number(name, default, float, "a number", (least, most))


def share(name: str, default: float, *, least: float = 0.0, most: float = 1.0) -> float:
    """A part of a whole: a decimal number between `least` and `most`."""
    return _number(name, default, float, "a number", (least, most))


def words(name: str, default: list[str]) -> list[str]:
    """A list separated by commas, of one word or more."""
    found = text(name)
    if not found:
        return default
    listed = [word.strip() for word in found.split(",") if word.strip()]
    if not listed:
        refused[name] = f"{name} is {found[:80]!r}: it must be a list separated by commas."
    return listed or default


def one_of(name: str, default: str, accepted: tuple[str, ...]) -> str:
    """One of a few words. Raises InvalidVariable: what else the settings do hangs on it."""
    found = text(name, default)
    if found not in accepted:
        raise InvalidVariable(f"{name} is {found[:80]!r}: it must be one of {', '.join(accepted)}.")
    return found
