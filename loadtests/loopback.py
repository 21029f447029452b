"""No load test leaves this machine: every address that a run is given is looked at here first."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit


class NotLoopback(Exception):
    """An address that is not this machine's own; the text names it."""


def is_loopback(address: str) -> bool:
    """Whether a URL's host is this machine by a loopback address; a socket in a folder has no host and is local."""
    host = urlsplit(address).hostname
    if host is None or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def demand(values: Mapping[str, object]) -> None:
    """NotLoopback when one of the values is an address elsewhere."""
    for name, value in values.items():
        text = str(value)
        if "AccountName=" in text or ("://" in text and not is_loopback(text)):
            raise NotLoopback(f"{name} is no address of this machine: a load test runs against loopback only.")
